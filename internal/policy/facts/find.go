package facts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Find is what a find command selects: where it starts and whether a test narrows it down.
type Find struct {
	Roots  []Word
	Narrow bool // what reaches the action passed a test on names, times or sizes
	Delete bool // -delete
	names  []Word
}

// findValues are the tests and options of find that take a value.
var findValues = map[string]bool{
	"-name": true, "-iname": true, "-path": true, "-ipath": true, "-wholename": true, "-iwholename": true, "-regex": true, "-iregex": true,
	"-lname": true, "-ilname": true, "-mtime": true, "-atime": true, "-ctime": true, "-mmin": true, "-amin": true, "-cmin": true,
	"-newer": true, "-anewer": true, "-cnewer": true, "-size": true, "-user": true, "-group": true, "-uid": true, "-gid": true, "-perm": true,
	"-links": true, "-inum": true, "-samefile": true, "-used": true, "-type": true, "-xtype": true, "-maxdepth": true, "-mindepth": true,
	"-fstype": true, "-printf": true, "-fprint": true, "-fprintf": true, "-fls": true, "-fprint0": true, "-regextype": true, "-context": true, "-D": true,
}

// findWide are the tests that hold for nearly everything.
var findWide = map[string]bool{"-type": true, "-maxdepth": true, "-mindepth": true, "-fstype": true, "-regextype": true, "-printf": true, "-D": true,
	"-fprint": true, "-fprintf": true, "-fls": true, "-fprint0": true}

// ParseFind reads the arguments of find.
func ParseFind(args []Word) Find {
	for len(args) > 0 && slices.Contains([]string{"-H", "-L", "-P", "-O1", "-O2", "-O3", "-E", "-X", "-d", "-s", "-x"}, args[0].Text) {
		args = args[1:]
	}
	var f Find
	for len(args) > 0 && args[0].Text != "" && !strings.ContainsAny(args[0].Text[:1], "-(!,)") {
		f.Roots = append(f.Roots, args[0])
		args = args[1:]
	}
	if len(f.Roots) == 0 {
		f.Roots = []Word{{Text: ".", Raw: "."}}
	}
	p := findParser{args: args, find: &f}
	f.Narrow = p.or(0)
	return f
}

// findParser works out whether every way through the expression is narrowed before it acts.
type findParser struct {
	args []Word
	find *Find
	acts bool
	wide bool // an action was reached without a test
}

// or reads alternatives; it is narrow when all are.
func (p *findParser) or(depth int) bool {
	narrow, seen := true, false
	for {
		branch, acted := p.and(depth)
		if !branch && (acted || !p.acts || depth > 0) {
			narrow = false
		}
		seen = true
		if len(p.args) == 0 || p.args[0].Text == ")" {
			return narrow && seen && !p.wide
		}
		p.args = p.args[1:] // -o, -or or ","
	}
}

func (p *findParser) and(depth int) (narrow, acted bool) {
	negate := false
	for len(p.args) > 0 {
		word := p.args[0]
		switch word.Text {
		case ")", "-o", "-or", ",":
			return narrow, acted
		case "(":
			p.args = p.args[1:]
			inner := false
			if depth < maxNest {
				inner = p.or(depth + 1)
			}
			if len(p.args) > 0 {
				p.args = p.args[1:]
			}
			narrow = narrow || inner && !negate
			negate = false
			continue
		case "!", "-not":
			negate = !negate
			p.args = p.args[1:]
			continue
		case "-a", "-and":
			p.args = p.args[1:]
			continue
		}
		p.args = p.args[1:]
		switch {
		case word.Text == "-delete":
			p.find.Delete = true
			p.acts, acted = true, true
			p.wide = p.wide || !narrow
		case word.Text == "-exec" || word.Text == "-execdir" || word.Text == "-ok" || word.Text == "-okdir":
			p.acts, acted = true, true
			p.skipExec()
			p.wide = p.wide || !narrow
		case findValues[word.Text] || strings.HasPrefix(word.Text, "-newer"):
			narrow = p.test(word.Text, negate) || narrow
		case word.Text == "-empty" || word.Text == "-nouser" || word.Text == "-nogroup":
			narrow = narrow || !negate
		}
		negate = false
	}
	return narrow, acted
}

// test takes a test's value and tells whether the test narrows.
func (p *findParser) test(name string, negate bool) bool {
	if len(p.args) == 0 {
		return false
	}
	val := p.args[0]
	p.args = p.args[1:]
	if (name == "-name" || name == "-iname") && !negate {
		p.find.names = append(p.find.names, val)
	}
	if negate || findWide[name] {
		return false
	}
	return strings.Trim(val.Text, "*./") != "" // -name '*' is no test
}

func (p *findParser) skipExec() {
	for len(p.args) > 0 {
		text := p.args[0].Text
		p.args = p.args[1:]
		if text == ";" || text == "+" {
			return
		}
	}
}

// find walks the commands of -exec with what find would put in, and gives what it prints.
func (w *walk) find(args []Word, st *state, in Flow) Flow {
	spec := ParseFind(args)
	hits := sync.OnceValue(func() []string { return distinct(w.hits(spec, st)) })
	out := Flow{From: true, names: hits}
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].Text != ";" && args[end].Text != "+" {
				end++
			}
			w.findExec(args[i+1:end], hits(), st)
			i = end
		case "-delete":
			for _, hit := range hits() {
				if spec.Narrow && strings.Contains(hit, Hole) {
					continue
				}
				w.remove(st, Word{Text: hit, Raw: hit}, !spec.Narrow)
			}
			if spec.Narrow && len(spec.literalNames()) == 0 {
				w.opaque = true
			}
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(args) {
				w.write(st, args[i+1], Flow{}, false)
			}
		}
	}
	return out
}

func (f Find) literalNames() []string {
	var out []string
	for _, name := range f.names {
		if !strings.ContainsAny(name.Text, "*?["+Hole) {
			out = append(out, name.Text)
		}
	}
	return out
}

// hits stand for what find selects: the roots when nothing narrows it, what there is of the names below them, else
// something unknown below them.
func (w *walk) hits(f Find, st *state) []string {
	var out []string
	for _, root := range f.Roots {
		base := strings.TrimSuffix(root.Text, "/")
		switch names := f.literalNames(); {
		case !f.Narrow:
			out = append(out, root.Text)
		case len(names) > 0:
			for _, name := range names {
				out = append(out, base+"/"+name)
			}
			out = append(out, w.named(f, base, st)...)
		default:
			out = append(out, w.named(f, base, st)...)
			tail := Hole
			if len(f.names) == 1 { // what the pattern's end tells is kept: *.pem
				if i := strings.LastIndexAny(f.names[0].Text, "*?]"); i >= 0 {
					tail = Hole + f.names[0].Text[i+1:]
				}
			}
			out = append(out, base+"/"+Hole+"/"+tail)
		}
	}
	return out
}

// distinct keeps the first of names that mean the same file.
func distinct(names []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(s string) bool {
		key := filepath.Clean(s)
		defer func() { seen[key] = true }()
		return seen[key]
	})
}

// named looks for the names of find below one of its roots.
func (w *walk) named(f Find, root string, st *state) []string {
	var out []string
	for _, dir := range w.resolve(st, root+"/") {
		visited := 0
		_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error { // what cannot be read is not found
			if visited++; visited > 4*maxBelow || len(out) >= maxLoop-2 {
				return filepath.SkipAll
			}
			if err != nil {
				return nil
			}
			rel, ok := below(p, dir)
			for _, name := range f.names {
				if ok && matchSegment(name.Text, d.Name()) {
					out = append(out, root+"/"+filepath.ToSlash(rel))
					break
				}
			}
			return nil
		})
	}
	return out
}

func (w *walk) findExec(command []Word, hits []string, st *state) {
	if len(command) == 0 {
		return
	}
	var words []Word
	for _, c := range command {
		if !strings.Contains(c.Text, "{}") {
			words = append(words, c)
			continue
		}
		for _, hit := range hits {
			words = append(words, Word{Text: strings.ReplaceAll(c.Text, "{}", hit), Raw: c.Raw})
		}
	}
	w.invoke(words, st, Flow{}, true)
}
