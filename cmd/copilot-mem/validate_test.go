package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The codes of the table in --help, which scripts can tell apart and testscript cannot.
func TestValidateExitCodes(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "SKILL.md")
	if err := os.WriteFile(bad, []byte("no frontmatter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		want int
		args []string
	}{
		{exitFindings, []string{"validate", bad}},
		{exitFindings, []string{"validate", "--json", bad}},
		{exitDone, []string{"validate", t.TempDir()}},
		{exitFailed, []string{"validate", filepath.Join(dir, "none")}},
		{exitUsage, []string{"validate"}},
		{exitFindings, []string{"validate", "--format", "sarif", bad}},
		{exitUsage, []string{"validate", "--format", "xml", bad}},
		{exitUsage, []string{"validate", "--kind", "nope", bad}},
		{exitUsage, []string{"validate", "--fix", bad}},
		{exitFindings, []string{"validate", "--fix", "--yes", bad}},
		{exitUsage, []string{"build", "--target", "x", "--out", filepath.Join(dir, "out")}},
		{exitFindings, []string{"build", dir, "--out", filepath.Join(dir, "out")}},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(tt.args, os.Stdin, &stdout, &stderr); got != tt.want {
			t.Errorf("%v: exit code %d, want %d\n%s%s", tt.args, got, tt.want, &stdout, &stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); !os.IsNotExist(err) {
		t.Errorf("a refused build left something: %v", err)
	}
}
