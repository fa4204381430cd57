package facts

type Commit struct {
	Amend, All bool
	f          *Facts
}
type ChangedFile struct{ Path, Status, Old string }
type Push struct {
	Remote, Ref                                   string
	Refs                                          []string
	RefsKnown, Force, Lease, Delete, Tags, Mirror bool
	f                                             *Facts
}
type statusAnswer struct{}
type gitCall struct{}

func (c *Commit) Message() string                          { return "" }
func (c *Commit) Author() string                           { return "" }
func (c *Commit) Branch() (name string, known bool)        { return "", false }
func (c *Commit) Files() (files []ChangedFile, known bool) { return nil, false }
func (p *Push) Files() (files []string, known bool)        { return nil, false }
func (f *Facts) findCommits() []*Commit                    { return nil }
func (f *Facts) findPushes() []*Push                       { return nil }
func (w *walk) git(args []Word, st *state, in Flow) Flow   { return Flow{} }
