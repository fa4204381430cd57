package capture

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

// ForgetState removes the state files whose content is told to go: where a transcript lies, and which session a folder
// has. How far a transcript was read says nothing of it and stays.
func ForgetState(dir datadir.Dir, drop func(content string) bool) error {
	entries, err := os.ReadDir(dir.State())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".pos") {
			continue
		}
		path := filepath.Join(dir.State(), e.Name())
		if content := readState(path); len(content) > 0 && drop(string(content)) {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}
