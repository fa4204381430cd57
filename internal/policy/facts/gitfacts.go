package facts

// Commit is one commit that the call makes.
type Commit struct {
	Amend, All bool
	f          *Facts
}

// ChangedFile is a path of a commit, relative to its repository; Status is added, modified, deleted, renamed, copied.
type ChangedFile struct{ Path, Status, Old string }

// Push is one push that the call makes.
type Push struct {
	Remote, Ref                                   string
	Refs                                          []string
	RefsKnown, Force, Lease, Delete, Tags, Mirror bool
	f                                             *Facts
}
type statusAnswer struct{}

func (c *Commit) Message() string                          { return "" }
func (c *Commit) Author() string                           { return "" }
func (c *Commit) Branch() (name string, known bool)        { return "", false }
func (c *Commit) Files() (files []ChangedFile, known bool) { return nil, false }
func (p *Push) Files() (files []string, known bool)        { return nil, false }
func (f *Facts) findCommits() []*Commit                    { return nil }
func (f *Facts) findPushes() []*Push                       { return nil }
