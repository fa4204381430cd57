package bundled

import (
	"path/filepath"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// recursiveDelete looks at rm -r and at find with -delete or -exec rm.
func recursiveDelete(f *facts.Facts, _ func(string) bool) []Hit {
	var out []Hit
	for _, c := range commands(f) {
		switch strings.TrimPrefix(c.Name, "g") {
		case "rm", "Remove-Item", "ri", "rd", "rmdir":
			out = append(out, removed(f, c)...)
		case "find":
			out = append(out, found(f, c)...)
		}
	}
	return unique(out)
}

// removed judges the operands of rm. Flags that cannot be known may be -r: then only what is protected counts.
func removed(f *facts.Facts, c facts.Command) []Hit {
	g := facts.Options{}.Parse(c.Words[1:])
	recursive, maybe := false, false
	for _, o := range g.Options {
		long := len(o.Name) > 2 && strings.HasPrefix("recursive", strings.ToLower(o.Name))
		recursive = recursive || o.Name == "r" && c.Name != "rmdir" || o.Name == "R" || long
	}
	for _, w := range g.Operands {
		maybe = maybe || strings.Trim(w.Text, facts.Hole) == ""
		recursive = recursive || c.Name != "rm" && strings.EqualFold(w.Text, "/s")
	}
	if !recursive && !maybe {
		return nil
	}
	var out []Hit
	for _, w := range g.Operands {
		if recursive && unresolved(f, c, w) {
			out = append(out, Hit{Action: "ask", Text: "`" + short(c.Raw) + "` deletes " + short(w.Raw) + ", which cannot be known from the text"})
			continue
		}
		if what := protected(f, c, w); what != "" {
			out = append(out, Hit{Action: "deny", Text: "`" + short(c.Raw) + "` deletes " + what})
		}
	}
	return out
}

// unresolved reports an operand of which nothing is known: $X, $X/, $X/*, or * in an unknown directory. A known
// directory before the unknown part counts only where the whole of it must stay: /$X, ~/$X.
func unresolved(f *facts.Facts, c facts.Command, w facts.Word) bool {
	text := w.Text
	if w.Glob != "" {
		text = w.Glob
	}
	if !strings.Contains(text, facts.Hole) {
		return len(c.Dir) == 0 && !filepath.IsAbs(text) && (wildcard(text) || strings.Trim(text, "./") == "")
	}
	if strings.Trim(text, facts.Hole+"/*?.") == "" {
		return true
	}
	at, rest, _ := strings.Cut(text, facts.Hole)
	if strings.Trim(rest, facts.Hole+"/*?.") != "" || !filepath.IsAbs(at) {
		return false
	}
	at = filepath.Clean(at)
	return at == "/" || isHome(f, at)
}

// wildcard reports a pattern that takes everything in a directory.
func wildcard(pat string) bool {
	last := pat[strings.LastIndexByte(strings.TrimRight(pat, "/"), '/')+1:]
	last = strings.TrimRight(last, "/")
	if !strings.ContainsAny(last, "*") && !strings.HasPrefix(last, "?") {
		return false
	}
	for {
		open := strings.IndexByte(last, '[')
		end := strings.IndexByte(last, ']')
		if open < 0 || end < open {
			break
		}
		last = last[:open] + last[end+1:]
	}
	return strings.Trim(last, "*?") == "" || strings.Trim(last, "*?") == "." && last[0] == '.'
}

// protected says what an operand would delete that must stay, or nothing.
func protected(f *facts.Facts, c facts.Command, w facts.Word) string {
	if w.Glob != "" && wildcard(w.Glob) {
		pat := strings.TrimRight(w.Glob, "/")
		dir := pat[:strings.LastIndexByte(pat, '/')+1]
		if dir == "" {
			dir = "."
		}
		if !strings.Contains(dir, facts.Hole) && !strings.ContainsAny(dir, "*?[") {
			for _, abs := range c.Resolve(dir) {
				if what := protectedContents(f, abs); what != "" {
					return what
				}
			}
		}
	}
	for _, abs := range c.Resolve(w.Text) {
		if what := protectedPath(f, abs); what != "" {
			return what
		}
		// rm follows the links on the way, and the last one where the operand ends in a slash.
		real := filepath.Join(f.RealPath(filepath.Dir(abs)), filepath.Base(abs))
		if strings.HasSuffix(w.Text, "/") {
			real = f.RealPath(abs)
		}
		if what := protectedPath(f, real); what != "" {
			return what
		}
	}
	return ""
}

// system directories are protected with everything in them.
var systemDirs = []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/dev", "/proc", "/sys"}

func protectedPath(f *facts.Facts, abs string) string {
	switch {
	case abs == "/":
		return "the whole system"
	case filepath.VolumeName(abs) != "" && len(abs) <= len(filepath.VolumeName(abs))+1:
		return "a whole drive"
	}
	for _, dir := range systemDirs {
		if facts.Within(abs, dir) && (!facts.Within(abs, "/usr/local") || abs == "/usr/local") {
			return "a part of the system (" + abs + ")"
		}
	}
	if isHome(f, abs) {
		return "a home directory (" + abs + ")"
	}
	if filepath.Dir(abs) == "/" {
		return "a directory of the system (" + abs + ")"
	}
	root := f.Root()
	for _, r := range []string{root, f.RealPath(root)} {
		switch {
		case abs == r:
			return "the whole repository"
		case facts.Within(r, abs):
			return "a directory that holds the repository (" + abs + ")"
		case abs == filepath.Join(r, ".git"):
			return "the repository's history (.git)"
		}
	}
	return ""
}

// protectedContents judges dir/*.
func protectedContents(f *facts.Facts, dir string) string {
	root := f.Root()
	switch {
	case dir == "/":
		return "the whole system"
	case isHome(f, dir):
		return "everything in a home directory (" + dir + ")"
	case dir == root || dir == f.RealPath(root):
		return "everything in the repository"
	case dir == filepath.Join(root, ".git"):
		return "the repository's history (.git)"
	case facts.Within(root, dir):
		return "everything in a directory that holds the repository"
	}
	return ""
}

func isHome(f *facts.Facts, abs string) bool {
	if home := f.Home(); home != "" && (abs == home || abs == f.RealPath(home)) {
		return true
	}
	if abs == "/root" || abs == "/var/root" {
		return true
	}
	parent := filepath.Dir(abs)
	return parent == "/home" || parent == "/Users"
}

// found judges find … -delete and find … -exec rm; a test on names, times or sizes makes it ordinary.
func found(f *facts.Facts, c facts.Command) []Hit {
	spec := facts.ParseFind(c.Words[1:])
	if spec.Narrow || !spec.Delete && !execRemoves(c.Words[1:]) {
		return nil
	}
	var out []Hit
	for _, root := range spec.Roots {
		if unresolved(f, c, root) {
			out = append(out, Hit{Action: "ask", Text: "`" + short(c.Raw) + "` deletes below " + short(root.Raw) + ", which cannot be known from the text"})
		} else if what := protected(f, c, root); what != "" {
			out = append(out, Hit{Action: "deny", Text: "`" + short(c.Raw) + "` deletes " + what})
		}
	}
	return out
}

func execRemoves(words []facts.Word) bool {
	for i, w := range words {
		switch w.Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			for _, word := range words[i+1:] {
				if word.Text == ";" || word.Text == "+" {
					break
				}
				if base := filepath.Base(word.Text); base == "rm" || base == "unlink" || base == "shred" {
					return true
				}
			}
		}
	}
	return false
}
