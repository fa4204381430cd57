package facts

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What bash itself makes of words whose value is known from the text is what the walk makes of them.
func TestWordsAsBash(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to compare with")
	}
	root := tree(t, "a.go", "b.go", "c.txt", ".hidden", "dir/x", "dir/y.go", "with space", "[z]")
	for _, words := range []string{
		"a b", `'a b'`, `"a b"`, `a\ b`, `a""b`, `a''b`, `"a"'b'c`, `\a\b`, `"\a\$\"\\"`, `'\a'`, `$'a\tb\x41\101\u00e9\'\\'`, `$'a'"b"`, `""`, `'' ""`, `"" a`,
		"{a,b}", "x{a,b}y", "{a,b}{1,2}", "{1..4}", "{04..2}", "{a..e..2}", "{a,{b,c}}", "{a}", "{,a}", `"{a,b}"`, `\{a,b}`, "{a,b", "a{b,c}d{e,f}",
		"*", "*.go", "?.go", "[ab].go", "[!a].go", "[a-c].*", "dir/*", "*/*", "dir/*.go", "*/", ".h*", "*nothing*", `'*'`, `\*`, `"*".go`, `*' 'space`, `\[z]`, "[[]z]", "./*.go", "d*r/y*",
		"~", "~/x", `"~"`, `\~`, "a~", "$HOME", "${HOME}/x", `"$HOME"`, `'$HOME'`, `\$HOME`, "$PWD", "${PWD##*/}",
		"$(echo a)", `"$(echo a b)"`, "$(echo a b)", "`echo a`", "$(printf '%s-%s' a b)", "$(pwd)", "$(basename /a/b)", "$(dirname /a/b)", "$(cat <<E\nx y\nE\n)", "$(echo '*.go')", "x$(echo)y", "$(echo -n a; echo b)", "$(echo -e 'a\\tb')",
		"$E", `"$E"`, "x$E", "$V", `"$V"`, "x${V}y", `x"$V"y`, "$G", `"$G"`, "${V% *}", "${V#* }", "${N%%.*}", "${N##*.}", "${N/b/X}", "${N//./_}", "${N:1}", "${N:1:2}", "${V^^}", "${N,,}", "${E:-z}", "${V:-z}", "${V:+z}", "${E:+z}",
		`"${A[@]}"`, "${A[@]}", `"${A[*]}"`, "${A[1]}", "$A", `"${!R}"`, "$1 $2", `"$@"`, `"$*"`, "$3",
	} {
		script := `cd "` + root + `"; E=; V="a  b"; G='*.go'; N=a.b.c; A=(x "y z"); R=N; set -- p "q r"; printf '<%s>' ` + words
		cmd := exec.Command(shell, "--norc", "--noprofile", "-c", script)
		cmd.Env = []string{"HOME=/home/me", "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"}
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: bash: %v", words, err)
			continue
		}
		var got strings.Builder
		commands := bash(t, root, script).Shell().Commands
		for i := len(commands) - 1; i >= 0; i-- {
			if c := commands[i]; c.Name == "printf" && len(c.Args) > 0 && c.Args[0] == "<%s>" {
				for _, a := range c.Args[1:] {
					got.WriteString("<" + a + ">")
				}
				if len(c.Args) == 1 {
					got.WriteString("<>")
				}
				break
			}
		}
		if diff := cmp.Diff(string(out), got.String()); diff != "" {
			t.Errorf("%s (-bash +walk):\n%s", words, diff)
		}
	}
}

func TestShell(t *testing.T) {
	root := tree(t, "f")
	for _, tt := range []struct {
		command string
		names   string // of the commands, in order
		opaque  bool
	}{
		{"ls -la | grep x && make || true; (cd d; pwd) & wait", "ls grep make true cd pwd wait", false},
		{"sudo -u x env A=b nice -n 5 git status", "sudo env nice git", false},
		{"sh -c 'ls; pwd'", "sh ls pwd", false},
		{"eval \"ls $X\"", "eval ls", true},
		{"bash <<'E'\nls\nE", "bash ls", false},
		{"echo ls | sh", "echo sh ls", false},
		{"printf 'ls\\n' | sudo bash", "printf sudo bash ls", false},
		{"if a; then b; else c; fi", "a b c", false},
		{"while a; do b; done; until c; do d; done", "a b c d", false},
		{"case $x in a) b;; *) c;; esac", "b c", false},
		{"f() { a; }; f", "f a", false},
		{"f() { a; }", "a", false},
		{"echo $(a) `b` <(c) \"$(d)\"", "a b c d echo", false},
		{"/usr/bin/git status; ./x.sh; ../bin/y", "git x.sh y", false},
		{"$X foo", "", true},
		{"${X}rm foo", "", true},
		{"rm $X", "rm", true},
		{"echo $X", "echo", false},
		{"echo a > $X", "echo", true},
		{"python3 -c 'x'", "python3", true},
		{"node -e 'x'; perl -e 'y'", "node perl", true},
		{"python3 x.py; node x.js", "python3 node", false},
		{"base64 -d x | sh", "base64 sh", true},
		{"if ( {", "", true},
		{"ls\nif ( {", "ls", true},
		{"# rm -rf /", "", false},
		{"echo 'rm -rf /'", "echo", false},
		{"command -v git", "command", false},
		{"xargs -0 -n1 rm < f", "xargs rm", true},
		{"time -p ls; ! ls; exec ls", "ls ls exec ls", false},
		{"alias a='ls -l'\na x", "alias ls", false},
		{"busybox ls; timeout -k 5 10 ls; stdbuf -oL ls; setsid ls; nohup ls; doas ls", "busybox ls timeout ls stdbuf ls setsid ls nohup ls doas ls", false},
	} {
		sh := bash(t, root, tt.command).Shell()
		var names []string
		for _, c := range sh.Commands {
			if c.Name != "" {
				names = append(names, c.Name)
			}
		}
		if got := strings.Join(names, " "); got != tt.names || sh.Opaque != tt.opaque {
			t.Errorf("%s: %q opaque %v, want %q %v", tt.command, got, sh.Opaque, tt.names, tt.opaque)
		}
	}
	f := bash(t, root, `FOO=1 git  commit -m "a b" $X # c`)
	c := f.Shell().Commands[0]
	if diff := cmp.Diff([]string{"commit", "-m", "a b", "$X"}, c.Args); diff != "" || !strings.Contains(c.Raw, `commit -m "a b" $X`) {
		t.Errorf("args (-want +got):\n%s raw %q", diff, c.Raw)
	}
	if New(Input{Event: event(t, root, "create_issue", map[string]any{"command": "rm x"})}).Shell() != nil {
		t.Error("another tool has a shell")
	}
	for _, tool := range []string{"bash", "Bash", "shell", "terminal", "powershell"} {
		if len(New(Input{Event: event(t, root, tool, map[string]any{"script": "rm x"})}).Files()) != 1 {
			t.Errorf("%s is no shell", tool)
		}
	}
}
