package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// unpack writes the archive's files below dir, with their modes.
func unpack(t *testing.T, file, dir string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, mode os.FileMode, r io.Reader) {
		t.Helper()
		to := filepath.Join(dir, filepath.FromSlash(name))
		body, err := io.ReadAll(r)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, body, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasSuffix(file, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			put(f.Name, f.Mode().Perm(), r)
		}
		return
	}
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		put(h.Name, h.FileInfo().Mode().Perm(), r)
	}
}

// What people download works: the capture program lies beside the other, and init installs it.
func TestDownload(t *testing.T) {
	t.Chdir("..")
	programs, out, home := t.TempDir(), t.TempDir(), t.TempDir()
	host := runtime.GOOS + "-" + runtime.GOARCH
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(programs, host)+string(filepath.Separator), "./cmd/copilot-mem", "./cmd/copilot-mem-hook")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	other := filepath.Join(programs, "windows-arm64")
	if err := errors.Join(os.MkdirAll(other, 0o755), os.WriteFile(filepath.Join(other, "copilot-mem.exe"), []byte("pe"), 0o755),
		os.WriteFile(filepath.Join(other, "copilot-mem-hook.exe"), []byte("pe"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(programs, "plan9-mips"), 0o755); err != nil {
		t.Fatal(err)
	}
	ending, archive := "", ".tar.gz"
	if runtime.GOOS == "windows" {
		ending, archive = ".exe", ".zip"
	}
	if err := run(programs, filepath.Join(programs, host, "copilot-mem"+ending), out); err != nil {
		t.Fatal(err)
	}
	m, err := os.ReadFile("plugin.json")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := plugin.ParseManifest(m)
	if err != nil {
		t.Fatal(err)
	}
	base := fmt.Sprintf("copilot-mem-cli_%s_", manifest.Version)
	sums, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{base + strings.ReplaceAll(host, "-", "_") + archive, base + "windows_arm64.zip", "copilot-mem-cli_" + manifest.Version + ".cdx.json"} {
		if !strings.Contains(string(sums), "  "+want+"\n") {
			t.Errorf("SHA256SUMS has no %s:\n%s", want, sums)
		}
	}
	if strings.Contains(string(sums), "plan9") {
		t.Error("a system without programs was packed")
	}
	name := base + strings.ReplaceAll(host, "-", "_")
	unpack(t, filepath.Join(out, name+archive), home)
	for _, file := range []string{"LICENSE", "README.md", "completions/copilot-mem.bash", "completions/_copilot-mem", "completions/copilot-mem.fish", "completions/copilot-mem.ps1"} {
		if info, err := os.Stat(filepath.Join(home, name, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v %v", file, info, err)
		}
	}
	cmd := exec.Command(filepath.Join(home, name, "copilot-mem"+ending), "init", "--scope", "user", "--yes")
	cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "COPILOT_HOME=" + filepath.Join(home, "copilot"), "COPILOT_MEM_HOME=" + filepath.Join(home, "mem")}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, text)
	}
	hooks, err := os.ReadFile(filepath.Join(home, "copilot", "hooks", "copilot-mem.json"))
	if err != nil || !bytes.Contains(hooks, []byte("copilot-mem-hook"+ending)) || bytes.Contains(hooks, []byte(`"capture"`)) {
		t.Errorf("the hooks do not start the small program: %v\n%s", err, hooks)
	}
	if _, err := os.Stat(filepath.Join(home, "mem", "bin", "copilot-mem-hook"+ending)); err != nil {
		t.Error(err)
	}
}
