package facts

type walk struct{}

func (f *Facts) Shell() *Shell     { return nil }
func (f *Facts) walkShell() *walk  { return nil }
func (f *Facts) findFiles() []File { return nil }
func ansiC(s string) string        { return s }
