package history

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// workspace is what the client notes beside a transcript (client 1.0.102). All values are read as text.
type workspace struct {
	ID         string `yaml:"id"`
	Cwd        string `yaml:"cwd"`
	GitRoot    string `yaml:"git_root"`
	Repository string `yaml:"repository"`
	HostType   string `yaml:"host_type"`
	Branch     string `yaml:"branch"`
	Name       string `yaml:"name"`
	CreatedAt  string `yaml:"created_at"`
	UpdatedAt  string `yaml:"updated_at"`
}

const maxWorkspace = 1 << 20

// readWorkspace reads the file beside a transcript; one that is missing says nothing.
func readWorkspace(dir string) (w workspace, err error) {
	path := filepath.Join(dir, "workspace.yaml")
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	if !info.Mode().IsRegular() {
		return w, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return w, err
	}
	defer func() { _ = f.Close() }() // only read
	raw, err := io.ReadAll(io.LimitReader(f, maxWorkspace))
	if err != nil {
		return w, err
	}
	return w, parseWorkspace(raw, &w)
}

func parseWorkspace(raw []byte, w *workspace) error {
	if err := yaml.Unmarshal(raw, w); err != nil {
		return errors.New("not the YAML that the client writes")
	}
	return nil
}

func (w workspace) place() place {
	return place{Cwd: w.Cwd, GitRoot: w.GitRoot, Repository: w.Repository, HostType: w.HostType, Branch: w.Branch}
}
