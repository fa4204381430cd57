package bundle

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// junk is what version control, file managers and editors leave behind: never part of a plugin.
var junk = map[string]bool{".git": true, ".hg": true, ".svn": true, ".bzr": true, ".jj": true, "CVS": true, "_darcs": true,
	".DS_Store": true, "Thumbs.db": true, "desktop.ini": true}

// ignoreRule is one line of a .gitignore (https://git-scm.com/docs/gitignore).
type ignoreRule struct {
	base    string // the folder of the .gitignore, "" for the top, else with a slash at the end
	match   *regexp.Regexp
	whole   bool // the pattern is for the path below base, not for the last name alone
	dirOnly bool
	keep    bool // a line with !: what an earlier line ignores stays
}

// ignoreRules reads a .gitignore that lies in the folder base. A line that is no pattern ignores nothing, as in git.
func ignoreRules(base, text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\uFEFF"), "\n") {
		line = trimBlanks(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		r := ignoreRule{base: base}
		line, r.keep = strings.CutPrefix(line, "!")
		line, r.dirOnly = strings.CutSuffix(line, "/")
		r.whole = strings.Contains(line, "/")
		var err error
		if r.match, err = regexp.Compile(`^(?s:` + globExpression(strings.TrimPrefix(line, "/")) + `)$`); err == nil && line != "" {
			rules = append(rules, r)
		}
	}
	return rules
}

// trimBlanks takes the spaces from the end, but for one behind a backslash.
func trimBlanks(line string) string {
	short := strings.TrimRight(line, " ")
	if strings.HasSuffix(short, `\`) && len(short) < len(line) {
		short += " "
	}
	return short
}

// globExpression is a pattern of .gitignore as a regular expression.
func globExpression(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		rest := glob[i:]
		switch {
		case strings.HasPrefix(rest, "**/") && (i == 0 || glob[i-1] == '/'):
			b.WriteString("(?:.*/)?")
			i += 2
		case rest == "**" && i > 0 && glob[i-1] == '/':
			b.WriteString(".+")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case rest[0] == '[':
			end := classEnd(rest)
			if end == 0 {
				return `[^\s\S]` // as in git, a bracket without its end matches nothing
			}
			b.WriteString(class(rest[1:end]))
			i += end
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i++
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return b.String()
}

// namedClass is a class of characters by its POSIX name, which Go's expressions know too.
var namedClass = regexp.MustCompile(`\[:[a-z]+:\]`)

// classEnd is where the ] of a bracket expression stands, 0 when there is none. The first ] of one is a character of it.
func classEnd(glob string) int {
	from := 1
	for from < len(glob) && (glob[from] == '!' || glob[from] == '^') {
		from++
	}
	for i := from; i < len(glob); i++ {
		if named := namedClass.FindStringIndex(glob[i:]); named != nil && named[0] == 0 {
			i += named[1] - 1
		} else if glob[i] == ']' && i > from {
			return i
		}
	}
	return 0
}

var classEscapes = strings.NewReplacer(`[`, `\[`, `]`, `\]`, `^`, `\^`, `&`, `\&`, `~`, `\~`)

func class(inner string) string {
	open := "["
	if inner[0] == '!' || inner[0] == '^' {
		open, inner = "[^/", inner[1:]
	}
	at := 0
	var b strings.Builder
	for _, named := range namedClass.FindAllStringIndex(inner, -1) {
		b.WriteString(classEscapes.Replace(inner[at:named[0]]) + inner[named[0]:named[1]])
		at = named[1]
	}
	return open + b.String() + classEscapes.Replace(inner[at:]) + "]"
}

func (r ignoreRule) matches(name string, dir bool) bool {
	below, ok := strings.CutPrefix(name, r.base)
	if !ok || r.dirOnly && !dir {
		return false
	}
	if !r.whole {
		below = path.Base(below)
	}
	return r.match.MatchString(below)
}

// kept shows a file system without what is ignored or junk. The paths that rules and tracked know begin at the top of
// the repository, prefix is where the file system lies in it: "" or with a slash at the end.
type kept struct {
	fs.FS
	prefix  string
	rules   []ignoreRule      // those of the folders above
	tracked map[string]bool   // what version control has in spite of its rules, and the folders that lead there
	read    map[string]string // the .gitignore files seen so far, by their folder below prefix
	drop    string            // one more folder to leave out: where the bundle goes
}

// ReadDir lists what is kept.
func (k *kept) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(k.FS, name)
	if err != nil {
		return nil, err
	}
	if data, err := fs.ReadFile(k.FS, path.Join(name, ".gitignore")); err == nil {
		k.read[name] = string(data)
	}
	rules := k.rulesFor(name)
	out := entries[:0]
	for _, d := range entries {
		if p := path.Join(name, d.Name()); p != k.drop && !junk[d.Name()] && (k.tracked[k.prefix+p] || !k.ignored(rules, p, d.IsDir())) {
			out = append(out, d)
		}
	}
	return out, nil
}

// rulesFor are the rules for what lies in the folder, the nearest ones last.
func (k *kept) rulesFor(dir string) []ignoreRule {
	rules := slices.Clone(k.rules)
	add := func(folder, base string) {
		if text, ok := k.read[folder]; ok {
			rules = append(rules, ignoreRules(k.prefix+base, text)...)
		}
	}
	add(".", "")
	for i := range len(dir) + 1 {
		if dir != "." && (i == len(dir) || dir[i] == '/') {
			add(dir[:i], dir[:i]+"/")
		}
	}
	return rules
}

// ignored asks for every folder on the way too: nothing below an ignored one comes back.
func (k *kept) ignored(rules []ignoreRule, name string, dir bool) bool {
	full := k.prefix + name
	for i := range len(full) + 1 {
		if i < len(full) && full[i] != '/' {
			continue
		}
		hit := false
		for _, r := range rules {
			if r.matches(full[:i], i < len(full) || dir) {
				hit = !r.keep
			}
		}
		if hit {
			return true
		}
	}
	return false
}
