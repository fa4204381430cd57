package script

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

// nasty is data that does harm wherever it is read as script.
const nasty = "$(touch pwned) `touch pwned` '; touch pwned; ' \"; touch pwned; \" a[$(touch pwned)] \\ $HOME *\n& | < end"

// TestValuesStayData runs scripts in the real shell: what comes out is the value, and nothing in it was run.
func TestValuesStayData(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"bare word", "printf '%s' ${{ v }}", nasty},
		{"part of a word", "printf '%s' a${{ v }}b", "a" + nasty + "b"},
		{"double quotes", `printf '%s' "x ${{ v }} y"`, "x " + nasty + " y"},
		{"single quotes", `printf '%s' 'x ${{ v }} y'`, "x " + nasty + " y"},
		{"dollar quotes", `printf '%s' $'x\t${{ v }}\t'`, "x\t" + nasty + "\t"},
		{"after a variable", "A=1; printf '%s' \"$A${{ v }}\"", "1" + nasty},
		{"assignment", "A=${{ v }}; printf '%s' \"$A\"", nasty},
		{"assignment before a command", "A=${{ v }} bash -c 'printf %s \"$A\"'", nasty},
		{"substitution", `printf '%s' "$(printf '%s' ${{ v }})"`, nasty},
		{"substitution in quotes", `printf '%s' "$(printf '%s' "${{ v }}")"`, nasty},
		{"backquotes", "printf '%s' `printf '%s' x`${{ v }}", "x" + nasty},
		{"default of an expansion", `printf '%s' "${UNSET:-${{ v }}}"`, nasty},
		{"bare default of an expansion", `printf '%s' ${UNSET:-${{ v }}}`, nasty},
		{"here-document", "cat <<EOF\n${{ v }}\nEOF", nasty + "\n"},
		{"here-document with tabs", "cat <<-EOF\n\t${{ v }}\n\tEOF", nasty + "\n"},
		{"here-string", "cat <<< ${{ v }}", nasty + "\n"},
		{"loop", "for x in ${{ v }}; do printf '%s' \"$x\"; done", nasty},
		{"case", "case ${{ v }} in *end) printf yes;; esac", "yes"},
		{"pattern", "case abc in ${{ v }}) printf yes;; *) printf no;; esac", "no"},
		{"test", `if [[ ${{ v }} == *end ]]; then printf yes; fi`, "yes"},
		{"process substitution", "cat <(printf '%s' ${{ v }})", nasty},
		{"comment", "# ${{ v }}\nprintf ok", "ok"},
		{"two", "printf '%s' ${{ v }} '${{ v }}'", nasty + nasty},
		{"argument of a nested shell", `bash -c 'printf %s "$1"' _ ${{ v }}`, nasty},
		{"redirection", "cd sub; printf x > ${{ file }}; printf '%s' *", "a b;c"},
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: bash is not on PATH")
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := strings.NewReplacer("${{ v }}", "${{ event.v }}", "${{ file }}", "${{ event.file }}").Replace(tt.src)
			s, err := Compile(Bash, src)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			cmd := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", "mkdir sub\n"+s.Text)
			cmd.Dir = dir
			env := &expr.Env{Contexts: map[string]expr.Value{"event": map[string]any{"v": nasty, "file": "a b;c"}}}
			cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
			for _, v := range s.Vars {
				value, err := v.Expr.Eval(env)
				if err != nil {
					t.Fatal(err)
				}
				cmd.Env = append(cmd.Env, v.Name+"="+expr.ToText(value))
			}
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil || string(out) != tt.want {
				t.Errorf("%s\nprinted %q, %v %s\nwant    %q", s.Text, out, err, &errs, tt.want)
			}
			if found, err := filepath.Glob(filepath.Join(dir, "*pwned*")); err != nil || len(found) > 0 {
				t.Errorf("%s: the value was run: %v", s.Text, found)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := []struct{ name, shell, src, want string }{
		{"command", Bash, "${{ event.x }} a", "name of a command"},
		{"command after assignment", Bash, "A=1 ${{ event.x }} a", "name of a command"},
		{"part of a command", Bash, "./bin/${{ event.x }}", "name of a command"},
		{"quoted command", Bash, "'${{ event.x }}' a", "name of a command"},
		{"command in a pipe", Bash, "echo a | ${{ event.x }}", "name of a command"},
		{"quoted here-document", Bash, "cat <<'EOF'\n${{ event.x }}\nEOF", "here-document"},
		{"escaped here-document", Bash, "cat <<\\EOF\n${{ event.x }}\nEOF", "here-document"},
		{"delimiter", Bash, "cat <<${{ event.x }}\nEOF", "does not parse"},
		{"arithmetic", Bash, "echo $(( ${{ event.x }} + 1 ))", "arithmetic"},
		{"arithmetic command", Bash, "(( ${{ event.x }} > 1 ))", "arithmetic"},
		{"let", Bash, "let x=${{ event.x }}", "arithmetic"},
		{"numeric test", Bash, "[[ ${{ event.x }} -gt 1 ]]", "arithmetic"},
		{"subscript", Bash, "echo ${a[${{ event.x }}]}", "arithmetic"},
		{"slice", Bash, "echo ${a:${{ event.x }}}", "arithmetic"},
		{"eval", Bash, "eval ${{ event.x }}", "a shell runs"},
		{"eval in quotes", Bash, `eval "echo ${{ event.x }}"`, "a shell runs"},
		{"shell text", Bash, `bash -c "echo ${{ event.x }}"`, "a shell runs"},
		{"shell text after options", Bash, `/bin/sh -ec 'echo ${{ event.x }}'`, "a shell runs"},
		{"here-document of a shell", Bash, "sh <<EOF\necho ${{ event.x }}\nEOF", "a shell runs"},
		{"after a backslash", Bash, `echo \${{ event.x }}`, "backslash"},
		{"after a dollar", Bash, `echo $${{ event.x }}`, "$"},
		{"function name", Bash, "${{ event.x }}() { :; }", ""},
		{"broken script", Bash, "if ${{ event.x }}", "does not parse"},
		{"cmd", Cmd, "echo ${{ event.x }}", "cmd"},
		{"call operator", PowerShell, "& ${{ event.x }}", "name of a command"},
		{"literal here-string", PowerShell, "$x = @'\n${{ event.x }}\n'@", "@"},
		{"backtick", PowerShell, "echo `${{ event.x }}", "backtick"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Compile(tt.shell, tt.src)
			var place *Error
			if !errors.As(err, &place) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Compile = %+v, %v; want an error about %q", s, err, tt.want)
			}
			if at := strings.Index(tt.src, "${{"); place.Offset != at {
				t.Errorf("offset %d, want %d", place.Offset, at)
			}
		})
	}
}

func TestPowerShell(t *testing.T) {
	tests := []struct{ src, want string }{
		{`Write-Output "a ${{ event.x }} b"`, `Write-Output "a ${env:COPILOT_MEM_V0} b"`},
		{`Write-Output 'it''s $5 ${{ event.x }}'`, "Write-Output \"it's `$5 ${env:COPILOT_MEM_V0}\""},
		{`$p = ${{ event.x }}`, `$p = "${env:COPILOT_MEM_V0}"`},
		{`if (${{ event.x }} -match 'a') { exit 1 }`, `if ("${env:COPILOT_MEM_V0}" -match 'a') { exit 1 }`},
		{`Get-Item src/${{ event.x }}`, `Get-Item src/${env:COPILOT_MEM_V0}`},
		{"$x = @\"\n${{ event.x }}\n\"@", "$x = @\"\n${env:COPILOT_MEM_V0}\n\"@"},
		{`Write-Output "$('a' + ${{ event.x }})"`, `Write-Output "$('a' + "${env:COPILOT_MEM_V0}")"`},
		{`Write-Output 'no value'`, `Write-Output 'no value'`},
	}
	for _, tt := range tests {
		s, err := Compile(PowerShell, tt.src)
		if err != nil || s.Text != tt.want {
			t.Errorf("Compile(%s)\n got %v, %v\nwant %s", tt.src, s, err, tt.want)
		}
	}
}

func TestWithoutExpressionsNothingIsTouched(t *testing.T) {
	for _, src := range []string{"", "echo ${HOME}", "if then (", "echo '}}' $ {{ x }}"} {
		s, err := Compile(Bash, src)
		if err != nil || s.Text != src || len(s.Vars) != 0 {
			t.Errorf("Compile(%q) = %+v, %v", src, s, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, src := range []string{
		"echo ${{ event.x }}", `echo "a ${{ event.x }}" '${{ event.y }}'`, "cat <<EOF\n${{ event.x }}\nEOF", "$(( ${{ event.x }} ))",
		"[[ a =~ ${{ event.x }} ]]", "case ${{ event.x }} in a) ;; esac", "@'\n${{ event.x }}\n'@", "${{ '}}' }}", "\ue0000\ue000${{ event.x }}",
	} {
		for _, shell := range []string{Bash, Sh, PowerShell, Cmd} {
			f.Add(shell, src)
		}
	}
	f.Fuzz(func(t *testing.T, shell, src string) {
		s, err := Compile(shell, src)
		if err != nil {
			return
		}
		for _, v := range s.Vars {
			if !strings.Contains(s.Text, v.Name) {
				t.Errorf("%q: %s is in no place of %q", src, v.Name, s.Text)
			}
		}
		if len(s.Vars) > 0 && strings.Contains(s.Text, "${{") && !strings.Contains(strings.ReplaceAll(src, "${{", ""), "{{") {
			t.Errorf("%q: an expression is left in %q", src, s.Text)
		}
	})
}
