package validate

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"runtime"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

var (
	inlineLink = regexp.MustCompile(`\]\(<?([^)<>\s]+)>?(?:\s+["'(][^)]*)?\)`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	notAFile   = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9+.-]*:|#|/|\?)|[{}$*|]|\.\.\.`)
)

// references warns of files that a skill's text names and that are not there. dir is the skill's folder.
func (r *report) references(dir, body string) {
	line := strings.Count(string(r.data), "\n") - strings.Count(body, "\n") + 1
	fenced := ""
	seen := map[string]bool{}
	for text := range strings.Lines(body) {
		trimmed := strings.TrimSpace(text)
		switch fence := fenceOf(trimmed); {
		case fenced == "" && fence != "":
			fenced = fence
		case fenced != "" && strings.HasPrefix(trimmed, fenced) && strings.Trim(trimmed, fenced[:1]) == "":
			fenced = ""
		}
		for _, m := range bundledFiles(text) {
			r.reference(dir, text[m[0]:m[1]], line, len([]rune(text[:m[0]]))+1, seen)
		}
		if fenced == "" && strings.Contains(text, "](") {
			plain := inlineCode.ReplaceAllStringFunc(text, func(code string) string { return strings.Repeat(" ", len(code)) })
			for _, m := range inlineLink.FindAllStringSubmatchIndex(plain, -1) {
				r.reference(dir, plain[m[2]:m[3]], line, len([]rune(text[:m[2]]))+1, seen)
			}
		}
		line++
	}
}

// bundledFolders are where Agent Skills keeps the files of a skill.
var bundledFolders = []string{"scripts/", "references/", "assets/"}

// bundledFiles finds where a line names files of those folders: after a blank, a quote or a bracket, with an ending.
func bundledFiles(line string) (places [][2]int) {
	for _, folder := range bundledFolders {
		for at := 0; ; {
			i := strings.Index(line[at:], folder)
			if i < 0 {
				break
			}
			start, end := at+i, at+i+len(folder)
			for end < len(line) && pathByte(line[end]) {
				end++
			}
			at = end
			if strings.HasSuffix(line[:start], "./") {
				start -= 2
			}
			name := strings.TrimRight(line[start:end], "./-")
			if ending := path.Ext(name); len(ending) > 1 && (start == 0 || strings.IndexByte(" \t\"'(=`", line[start-1]) >= 0) {
				places = append(places, [2]int{start, start + len(name)})
			}
		}
	}
	return places
}

func pathByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '/' || c == '-'
}

func fenceOf(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	for _, c := range []string{"`", "~"} {
		if fence := line[:len(line)-len(strings.TrimLeft(line, c))]; len(fence) >= 3 {
			return fence
		}
	}
	return ""
}

func (r *report) reference(dir, target string, line, col int, seen map[string]bool) {
	at := path.Join(dir, target)
	if seen[at] || notAFile.MatchString(target) {
		return
	}
	seen[at] = true
	target, _, _ = strings.Cut(target, "#")
	if plain, err := url.PathUnescape(target); err == nil {
		target = plain
	}
	at = path.Join(dir, target)
	if target == "" || !strings.ContainsAny(target, "./") || !fs.ValidPath(at) {
		return
	}
	if !r.c.exists(at) && !(fs.ValidPath(path.Clean(target)) && r.c.exists(path.Clean(target))) {
		r.specAt(line, col, "skill/missing-reference", fmt.Sprintf("there is no %s beside SKILL.md", target), "add the file, or correct the path: it is relative to SKILL.md")
	}
}

// executables warns of scripts below dir that begin with `#!` and cannot be executed. deep also looks into folders.
func (c *checker) executables(dir string, deep bool) {
	if runtime.GOOS == "windows" || !c.isDir(dir) {
		return
	}
	_ = plugin.Walk(c.fsys, dir, func(p string, d fs.DirEntry) error {
		if d.IsDir() {
			if !deep || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if c.needsBit(p) {
			c.fix(p, func(f *Fix) { f.Executable = true })
			severity := Warning
			if ending := path.Ext(p); ending != "" && ending != ".sh" && ending != ".bash" { // usually given to its interpreter
				severity = Info
			}
			c.open(p).add(severity, 1, 1, "file/not-executable", "begins with #! and cannot be executed", "run `chmod +x "+path.Base(p)+"`")
		}
		return nil
	})
}

// needsBit reports whether the file is a script that nobody may execute. File systems without modes have no answer.
func (c *checker) needsBit(file string) bool {
	info, err := fs.Stat(c.fsys, file)
	if err != nil || info.Mode().Perm() == 0 || info.Mode().Perm()&0o111 != 0 {
		return false
	}
	f, err := c.fsys.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [2]byte
	n, _ := f.Read(head[:])
	return string(head[:n]) == "#!"
}

// links warns of symbolic links that are broken or lead out of the plugin.
func (c *checker) links() {
	_ = fs.WalkDir(c.fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink == 0:
			return nil
		}
		target, err := fs.ReadLink(c.fsys, p)
		if err != nil {
			return nil //nolint:nilerr // a file system without links
		}
		r := c.open(p)
		switch _, inside := inside(path.Join(path.Dir(p), strings.ReplaceAll(target, `\`, "/"))); {
		case path.IsAbs(target) || !inside:
			r.specAt(1, 1, "plugin/link-outside", fmt.Sprintf("the link leads out of the plugin, to %s: Agent Plugins rejects it, and `plugin install` copies what is there", target),
				"put the file itself into the plugin")
		case !c.exists(p):
			r.warn(nil, "plugin/link-broken", "the link leads to nothing", "remove it, or put the file there")
		}
		return nil
	})
}

// Placeholders for the plugin's own folder, as the client fills them in.
var pluginRoot = regexp.MustCompile(`\$\{(?:CLAUDE_|COPILOT_)?PLUGIN_ROOT\}/([\w./-]+)`)

// program reports what is wrong with the file that a command names: of a whole plugin or repository only, and only
// where it is a path. relative says that a command without a placeholder is relative to fsys.
func (r *report) program(v *plugin.Value, relative bool, rule, after string) {
	if !r.c.whole || v.Str() == "" {
		return
	}
	var files []string
	for _, m := range pluginRoot.FindAllStringSubmatch(v.Text, -1) {
		files = append(files, m[1])
	}
	if first := strings.Trim(strings.Fields(v.Text + " x")[0], `"'`); relative && strings.Contains(first, "/") && !notAFile.MatchString(first) && !strings.HasPrefix(first, "~") {
		files = append(files, first)
	}
	for _, f := range files {
		at, ok := inside(f)
		switch {
		case !ok:
		case !r.c.exists(at):
			r.warn(v, rule+"-missing", "there is no "+f+after, "add the file, or correct the path")
		case runtime.GOOS != "windows" && r.c.needsBit(at):
			r.c.fix(at, func(f *Fix) { f.Executable = true })
			r.warn(v, rule+"-not-executable", f+" cannot be executed", "run `chmod +x "+f+"`")
		}
	}
}
