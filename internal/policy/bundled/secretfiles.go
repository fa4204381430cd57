package bundled

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// secretFiles looks at every file event, and in a shell at the operands of nearly every program.
func secretFiles(f *facts.Facts, _ func(string) bool) []Hit {
	var out []Hit
	hit := func(canonical string) {
		if len(out) < 20 {
			out = append(out, Hit{Action: "deny", Text: canonical + " holds secrets; do not read or write it", Paths: []string{canonical}})
		}
	}
	for _, file := range f.Files() {
		if file.Below && !secretPlace(filepath.ToSlash(file.Real)) {
			continue // node_modules is full of certificates
		}
		if secretName(filepath.ToSlash(file.Abs)) || secretName(filepath.ToSlash(file.Real)) || f.IsShell() && secretDir(file.Real) {
			hit(file.Path)
		}
	}
	for _, c := range commands(f) {
		for _, text := range opened(c) {
			secretOperand(f, c, text, hit)
		}
	}
	return unique(out)
}

// secretOperand judges a text that may name a file. A text with blanks is prose, unless there is such a file.
func secretOperand(f *facts.Facts, c facts.Command, text string, hit func(string)) {
	if text == "" || strings.Contains(text, "://") || strings.ContainsAny(text, "\n") {
		return
	}
	paths := c.Resolve(text)
	if strings.ContainsAny(text, " \t") && !slices.ContainsFunc(paths, facts.Exists) {
		return
	}
	for _, abs := range paths {
		if secretName(filepath.ToSlash(abs)) || secretName(filepath.ToSlash(f.RealPath(abs))) {
			_, canonical := f.Paths(abs)
			hit(canonical)
			return
		}
	}
	if len(paths) == 0 && secretName(strings.ReplaceAll(text, facts.Hole, "?")) { // the directory is unknown, the name is not
		hit(strings.ReplaceAll(text, facts.Hole, "?"))
	}
}

var (
	envSamples     = []string{"example", "sample", "template", "dist", "defaults", "schema"}
	secretSuffixes = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx"}
	secretNames    = []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".pgpass", ".pypirc", ".git-credentials"}
)

// secretName reports a path (with slashes) that by its name holds secrets. Letter case does not matter: where it does on
// the disk, the other spelling is as telling.
func secretName(path string) bool {
	path = strings.ToLower(path)
	name := path[strings.LastIndexByte(path, '/')+1:]
	parent := strings.TrimSuffix(path[:len(path)-len(name)], "/")
	dir := parent[strings.LastIndexByte(parent, '/')+1:]
	switch {
	case name == ".env":
		return true
	case strings.HasPrefix(name, ".env."):
		return !slices.Contains(envSamples, name[strings.LastIndexByte(name, '.')+1:])
	case slices.Contains(secretNames, name):
		return true
	case dir == ".aws" && name == "credentials", dir == ".kube" && name == "config":
		return true
	case dir == ".ssh":
		return name != "" && !strings.HasSuffix(name, ".pub") && !strings.HasPrefix(name, "known_hosts") && name != "config" && name != "authorized_keys"
	case strings.Contains(path, "/.gnupg/") || strings.HasPrefix(path, ".gnupg/"):
		return true
	}
	return slices.ContainsFunc(secretSuffixes, func(s string) bool { return strings.HasSuffix(name, s) && len(name) > len(s) })
}

// secretPlace reports a path in a directory that is there for secrets.
func secretPlace(path string) bool {
	for _, dir := range []string{"/.ssh/", "/.gnupg/", "/.aws/", "/.kube/"} {
		if strings.Contains(path, dir) {
			return true
		}
	}
	return false
}

// secretDir reports such a directory itself, when it is copied, packed, moved or deleted.
func secretDir(abs string) bool {
	base := filepath.Base(abs)
	return base == ".ssh" || base == ".gnupg"
}

// silent programs print their operands or look at names only.
var silent = map[string]bool{"echo": true, "printf": true, "ls": true, "stat": true, "test": true, "[": true, "basename": true, "dirname": true,
	"cd": true, "pushd": true, "mkdir": true, "export": true, "alias": true, "type": true, "which": true, "whereis": true, "man": true,
	"command": true, "true": true, ":": true, "local": true, "declare": true, "set": true, "read": true, "unset": true, "locate": true, "realpath": true, "readlink": true}

// scriptFirst are programs whose first operand is a pattern or script, unless an option brings it.
var scriptFirst = map[string]facts.Options{
	"grep": grepOptions, "egrep": grepOptions, "fgrep": grepOptions, "zgrep": grepOptions, "rg": rgOptions, "ag": {Short: "ABCmGp"}, "ack": {},
	"sed": {Short: "efl", Long: []string{"expression", "file"}}, "gsed": {Short: "efl", Long: []string{"expression", "file"}},
	"awk": awkOptions, "gawk": awkOptions, "mawk": awkOptions, "nawk": awkOptions,
	"jq": {Short: "fL", Long: []string{"from-file", "indent", "arg", "argjson"}}, "yq": {}, "fd": fdOptions, "fdfind": fdOptions,
	"perl": {Short: "eEIMm"}, "ruby": {Short: "eIr"}, "xq": {}, "dasel": {}, "gron": {}, "fx": {},
}

var (
	grepOptions = facts.Options{Short: "ABCDdefm", Long: []string{"regexp", "file", "context", "after-context", "before-context", "max-count", "include",
		"exclude", "exclude-dir", "label", "binary-files", "color"}}
	rgOptions = facts.Options{Short: "ABCMEdefgjmrtT", Long: []string{"glob", "iglob", "type", "type-not", "regexp", "file", "max-depth", "max-count", "context",
		"after-context", "before-context", "replace", "encoding", "color", "sort", "ignore-file", "pre"}}
	awkOptions = facts.Options{Short: "Ffv", Long: []string{"field-separator", "file", "assign"}}
	fdOptions  = facts.Options{Short: "deEtSocx", Long: []string{"max-depth", "extension", "exclude", "type", "size", "exec", "color"}}
)

// brings are the options that bring the pattern or script, so that the first operand is a file.
var brings = []string{"e", "f", "E", "regexp", "file", "expression", "from-file", "files"}

// reading options of those programs: their value is a file.
var scriptFiles = []string{"f", "file", "from-file"}

// namesOnly are options whose value is a pattern of names, not a file that is opened.
var namesOnly = map[string]bool{"exclude": true, "exclude-dir": true, "include": true, "ignore": true, "glob": true, "iglob": true, "name": true, "iname": true,
	"ignore-pattern": true, "message": true, "title": true, "body": true, "subject": true, "description": true, "label": true, "search": true, "grep": true, "match": true,
	"pattern": true, "path-ignore": true, "skip": true, "skip-files": true, "not-path": true, "filter": true}

// namesNext are the short forms, by program.
var namesNext = map[string]string{"zip": "x i", "diff": "x X", "tree": "I P", "rsync": "f", "du": "X", "gh": "t b", "tar": "X"}

// gitOpens are the sub-commands of git that open the files that they name.
var gitOpens = map[string]bool{"add": true, "stage": true, "rm": true, "mv": true, "show": true, "diff": true, "checkout": true, "restore": true}

// opened are the words of a command that may name files which it opens.
func opened(c facts.Command) []string {
	args := c.Words[1:]
	switch {
	case c.Name == "" || silent[c.Name]:
		return nil
	case c.Name == "git":
		return gitOpened(args)
	case c.Name == "find" || c.Name == "gfind":
		return texts(facts.ParseFind(args).Roots)
	}
	if spec, ok := scriptFirst[c.Name]; ok {
		return scriptOpened(spec, args)
	}
	if wrapper(c.Name) {
		return nil // what it runs is a command of its own
	}
	return plainOpened(c.Name, args)
}

func texts(words []facts.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

func gitOpened(args []facts.Word) []string {
	g := facts.GitOptions.Leading(args)
	if len(g.Operands) == 0 || !gitOpens[g.Operands[0].Text] {
		return nil
	}
	var out []string
	for _, w := range g.Operands[1:] {
		if strings.HasPrefix(w.Text, "-") {
			continue
		}
		out = append(out, w.Text)
		if rev, path, ok := strings.Cut(w.Text, ":"); ok && rev != "" { // HEAD:.env
			out = append(out, path)
		}
	}
	return out
}

func scriptOpened(spec facts.Options, args []facts.Word) []string {
	g := spec.Parse(args)
	files, given := g.Operands, g.Has(brings...)
	if !given && len(files) > 0 {
		files = files[1:]
	}
	return append(texts(files), texts(g.Values(scriptFiles...))...)
}

// wrapper programs run their operands; those are commands of their own.
func wrapper(name string) bool {
	return facts.IsWrapper(name) || name == "xargs" || name == "eval" || name == "watch"
}

// codeNext are the options of interpreters and shells whose value is a program.
var codeNext = map[string]bool{"-c": true, "-e": true, "-E": true, "-r": true, "-p": true, "--eval": true, "--print": true, "-m": true}

// plainOpened takes every operand, the values of --option=value, and what follows @ in the ways of curl.
func plainOpened(name string, args []facts.Word) []string {
	var out []string
	code := facts.IsInterpreter(name)
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		switch {
		case code && codeNext[text]:
			i++
		case strings.HasPrefix(text, "--"):
			option, value, attached := strings.Cut(text[2:], "=")
			if namesOnly[option] {
				if !attached {
					i++
				}
				continue
			}
			out = append(out, value)
		case strings.HasPrefix(text, "-") && len(text) == 2 && slices.Contains(strings.Fields(namesNext[name]), text[1:]):
			i++
		case strings.HasPrefix(text, "-"):
			continue
		default:
			out = append(out, text)
		}
		if name == "dd" {
			_, value, _ := strings.Cut(text, "=")
			out = append(out, value)
		}
		if _, file, ok := strings.Cut(text, "@"); ok && name == "curl" {
			out = append(out, file)
		}
	}
	return out
}
