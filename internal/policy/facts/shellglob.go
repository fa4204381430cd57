package facts

import (
	"os"
	"path/filepath"
	"strings"
)

// maxGlob bounds the names that one pattern of a command stands for.
const maxGlob = 1000

// globMeta reports whether a shell pattern (quoted characters behind a backslash) has a wildcard.
func globMeta(pat string) bool {
	for i := 0; i < len(pat); i++ {
		switch pat[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if strings.IndexByte(pat[i+1:], ']') > 0 {
				return true
			}
		}
	}
	return false
}

// unescape takes the backslashes off a pattern.
func unescape(pat string) string {
	if !strings.Contains(pat, `\`) {
		return pat
	}
	var b strings.Builder
	for i := 0; i < len(pat); i++ {
		if pat[i] == '\\' && i+1 < len(pat) {
			i++
		}
		b.WriteByte(pat[i])
	}
	return b.String()
}

// shellGlob expands a pattern as bash does without options: names in order, a leading dot only where it is written. The
// names start as the pattern does. Patterns relative to an unknown directory have none.
func shellGlob(pat, dir string) []string {
	base, prefix := dir, ""
	if strings.HasPrefix(pat, "/") {
		base, prefix = "/", "/"
		pat = strings.TrimLeft(pat, "/")
	}
	if base == "" {
		return nil
	}
	found := []string{prefix}
	segments := strings.Split(pat, "/")
	for i, seg := range segments {
		last := i == len(segments)-1
		var next []string
		for _, at := range found {
			next = globSegment(next, at, seg, base, last)
			if len(next) >= maxGlob {
				next = next[:maxGlob]
				break
			}
		}
		found = next
		if len(found) == 0 {
			return nil
		}
	}
	return found
}

// globSegment appends to out the names that one segment makes of a found prefix.
func globSegment(out []string, at, seg, base string, last bool) []string {
	onDisk := func(name string) string {
		if strings.HasPrefix(name, "/") {
			return name
		}
		return filepath.Join(base, name)
	}
	join := func(name string) string {
		if !last {
			return at + name + "/"
		}
		return at + name
	}
	if seg == "" {
		return append(out, at)
	}
	if !globMeta(seg) {
		name := at + unescape(seg)
		if last && !exists(onDisk(name)) || !last && !isDir(onDisk(name)) {
			return out
		}
		return append(out, join(unescape(seg)))
	}
	entries, err := os.ReadDir(onDisk(at + "."))
	if err != nil {
		return out
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") != strings.HasPrefix(unescape(seg), ".") || !matchSegment(seg, name) {
			continue
		}
		if !last && !isDir(onDisk(at+name)) {
			continue
		}
		if out = append(out, join(name)); len(out) >= maxGlob {
			break
		}
	}
	return out
}

// matchSegment matches a whole name: * ? [a-z] [!a] and backslash. It never goes back further than the last star.
func matchSegment(pat, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		if p < len(pat) && pat[p] == '*' {
			star, mark = p, n
			p++
			continue
		}
		if p < len(pat) {
			if ok, width := matchOne(pat[p:], name[n]); ok {
				p += width
				n++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, n = star+1, mark
	}
	for p < len(pat) && pat[p] == '*' {
		p++
	}
	return p == len(pat)
}

// matchOne matches one byte with the first element of pat and tells how long that element is.
func matchOne(pat string, c byte) (ok bool, width int) {
	switch pat[0] {
	case '?':
		return true, 1
	case '\\':
		if len(pat) > 1 {
			return pat[1] == c, 2
		}
	case '[':
		if end := strings.IndexByte(pat[1:], ']'); end > 0 {
			return matchClass(pat[1:1+end], c), end + 2
		}
	}
	return pat[0] == c, 1
}

func matchClass(class string, c byte) bool {
	not := class[0] == '!' || class[0] == '^'
	if not {
		class = class[1:]
	}
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			if class[i] <= c && c <= class[i+2] {
				return !not
			}
			i += 2
			continue
		}
		if class[i] == c {
			return !not
		}
	}
	return not
}
