package facts

import "strings"

// patched is what a patch does to one file. Paths are as written.
type patched struct {
	action         string // create, edit, delete, rename
	path, to       string // to: the new name of a rename
	added, removed string // lines without their marks, each with its line end
}

const (
	patchBegin  = "*** Begin Patch"
	patchAdd    = "*** Add File:"
	patchUpdate = "*** Update File:"
	patchDelete = "*** Delete File:"
	patchMove   = "*** Move to:"
)

func looksLikePatch(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), patchBegin)
}

// parsePatch reads the form of the client's apply_patch tool and unified diffs, with or without git's headers. It takes
// what it can read: a line that is in neither form is passed over.
func parsePatch(text string) []patched {
	if strings.Contains(text, "*** ") && hasEnvelope(text) {
		return parseEnvelope(text)
	}
	return parseUnified(text)
}

func hasEnvelope(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{patchBegin, patchAdd, patchUpdate, patchDelete} {
			if strings.HasPrefix(line, mark) {
				return true
			}
		}
	}
	return false
}

// collector gathers the files of a patch and the lines of the one being read.
type collector struct {
	files          []patched
	cur            *patched
	added, removed strings.Builder
}

func (c *collector) begin(action, path string) {
	c.end()
	c.cur = &patched{action: action, path: path}
}

func (c *collector) end() {
	if c.cur != nil && c.cur.path != "" {
		c.cur.added, c.cur.removed = c.added.String(), c.removed.String()
		c.files = append(c.files, *c.cur)
	}
	c.cur = nil
	c.added.Reset()
	c.removed.Reset()
}

func (c *collector) line(line string) {
	switch {
	case c.cur == nil || line == "":
	case line[0] == '+':
		c.added.WriteString(line[1:] + "\n")
	case line[0] == '-':
		c.removed.WriteString(line[1:] + "\n")
	}
}

func parseEnvelope(text string) []patched {
	var c collector
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		head := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(head, patchAdd):
			c.begin("create", strings.TrimSpace(head[len(patchAdd):]))
		case strings.HasPrefix(head, patchUpdate):
			c.begin("edit", strings.TrimSpace(head[len(patchUpdate):]))
		case strings.HasPrefix(head, patchDelete):
			c.begin("delete", strings.TrimSpace(head[len(patchDelete):]))
		case strings.HasPrefix(head, patchMove):
			if c.cur != nil && c.cur.action == "edit" {
				c.cur.action, c.cur.to = "rename", strings.TrimSpace(head[len(patchMove):])
			}
		default:
			c.line(line)
		}
	}
	c.end()
	return c.files
}

// unified reads `diff --git`, `rename from/to`, `---`/`+++` and hunks. Inside a hunk the counts of its header decide
// what is a line of the file, so that a removed "-- x" is not taken for a header.
type unified struct {
	collector
	oldName, newName string
	left, right      int // lines that the hunk still has
	header           bool
}

func parseUnified(text string) []patched {
	var u unified
	for line := range strings.Lines(text) {
		u.read(strings.TrimRight(line, "\r\n"))
	}
	u.finish()
	return u.files
}

func (u *unified) read(line string) {
	if u.left > 0 || u.right > 0 {
		switch {
		case strings.HasPrefix(line, "+"):
			u.right--
		case strings.HasPrefix(line, "-"):
			u.left--
		case strings.HasPrefix(line, `\`):
			return
		default:
			u.left, u.right = u.left-1, u.right-1
		}
		u.line(line)
		return
	}
	switch {
	case strings.HasPrefix(line, "diff --git "):
		u.finish()
		u.begin("edit", "")
		u.oldName, u.newName = gitNames(line[len("diff --git "):])
		u.header = true
	case strings.HasPrefix(line, "--- "):
		if !u.header {
			u.finish()
			u.begin("edit", "")
		}
		u.oldName, u.header = diffName(line[4:], "a/"), false
	case strings.HasPrefix(line, "+++ ") && u.cur != nil:
		u.newName, u.header = diffName(line[4:], "b/"), false
	case strings.HasPrefix(line, "rename from ") && u.cur != nil:
		u.cur.action, u.oldName = "rename", line[len("rename from "):]
	case strings.HasPrefix(line, "rename to ") && u.cur != nil:
		u.cur.action, u.newName = "rename", line[len("rename to "):]
	case strings.HasPrefix(line, "new file mode") && u.cur != nil:
		u.cur.action = "create"
	case strings.HasPrefix(line, "deleted file mode") && u.cur != nil:
		u.cur.action = "delete"
	case strings.HasPrefix(line, "@@ ") && u.cur != nil:
		u.left, u.right = hunkCounts(line)
	}
}

// finish settles the file being read.
func (u *unified) finish() {
	if u.cur == nil {
		return
	}
	const none = "/dev/null"
	u.cur.path = u.newName
	switch {
	case u.newName == none || u.cur.action == "delete":
		u.cur.action, u.cur.path = "delete", u.oldName
	case u.oldName == none || u.cur.action == "create":
		u.cur.action = "create"
	case u.cur.action == "rename":
		u.cur.path, u.cur.to = u.oldName, u.newName
	case u.newName == "":
		u.cur.path = u.oldName
	}
	if u.cur.path == none {
		u.cur.path = ""
	}
	u.end()
	u.oldName, u.newName, u.header, u.left, u.right = "", "", false, 0, 0
}

// diffName takes the name off a header line: a tab starts a date, quotes hold escapes, and a/ or b/ is git's prefix.
func diffName(s, prefix string) string {
	if strings.HasPrefix(s, `"`) {
		if end := strings.LastIndexByte(s, '"'); end > 0 {
			s = ansiC(s[1:end])
		}
	} else {
		s, _, _ = strings.Cut(s, "\t")
		s = strings.TrimRight(s, " ")
	}
	return strings.TrimPrefix(s, prefix)
}

// gitNames splits "a/x b/x"; a name with a blank is read from the other headers.
func gitNames(s string) (before, after string) {
	if a, b, ok := strings.Cut(s, " b/"); ok {
		return strings.TrimPrefix(a, "a/"), b
	}
	return "", ""
}

// hunkCounts reads "@@ -1,2 +3,4 @@".
func hunkCounts(line string) (left, right int) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return 0, 0
	}
	return hunkCount(fields[1]), hunkCount(fields[2])
}

func hunkCount(s string) int {
	_, count, ok := strings.Cut(s, ",")
	if !ok {
		return 1
	}
	n := 0
	for _, r := range count {
		if r < '0' || r > '9' || n > 1<<24 {
			return 0
		}
		n = n*10 + int(r-'0')
	}
	return n
}
