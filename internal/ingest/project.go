package ingest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Place is what a folder belongs to.
type Place struct {
	Project string // "host/owner/name" of the git remote, else the main work tree, else the folder; empty in a temporary one
	Branch  string // empty outside git, and when none is checked out
	Git     bool
	// Mark tells a repository without a remote wherever its folder is moved to; empty where there is none.
	Mark string
}

// ProjectOf returns the project and the branch of a folder. Subfolders and work trees give the same. Only files are read;
// no program is run.
func ProjectOf(dir string) (project, branch string) {
	p := PlaceOf(dir)
	return p.Project, p.Branch
}

// GitProject is [ProjectOf] for a folder inside git; ok is false outside.
func GitProject(dir string) (project, branch string, ok bool) {
	p := PlaceOf(dir)
	return p.Project, p.Branch, p.Git
}

// PlaceOf returns what a folder belongs to. A folder for temporary files outside git is no project.
func PlaceOf(dir string) Place {
	if p, ok := gitPlace(dir); ok || dir == "" || Temporary(dir) {
		return p
	}
	return Place{Project: filepath.Clean(dir)}
}

// Temporary reports whether a folder is one of the system's for temporary files, or in one.
func Temporary(dir string) bool {
	roots := []string{os.TempDir()}
	if filepath.Separator == '/' {
		roots = append(roots, "/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders", "/dev/shm")
	}
	dir = filepath.Clean(dir)
	for _, r := range roots {
		if rel, err := filepath.Rel(filepath.Clean(r), dir); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

func gitPlace(dir string) (p Place, ok bool) {
	if !filepath.IsAbs(dir) {
		return p, false
	}
	top, gitDir, ok := findGit(filepath.Clean(dir))
	if !ok {
		return p, false
	}
	p.Git = true
	common := gitDir
	if rel := firstLine(filepath.Join(gitDir, "commondir")); rel != "" {
		common = join(gitDir, rel)
	}
	p.Branch, _ = strings.CutPrefix(firstLine(filepath.Join(gitDir, "HEAD")), "ref: refs/heads/")
	if strings.Contains(p.Branch, "ref: ") || isHash(p.Branch) {
		p.Branch = ""
	}
	if remote := remoteURL(filepath.Join(common, "config")); remote != "" {
		if p.Project = normalRemote(remote); p.Project != "" && !filepath.IsAbs(p.Project) {
			return p, true
		}
	}
	p.Mark = mark(common)
	if p.Project != "" {
		return p, true
	}
	// The main work tree holds the common directory; that of a submodule lies elsewhere and of a bare repository is none.
	switch {
	case filepath.Base(common) == ".git":
		p.Project = filepath.Dir(common)
	case common != gitDir:
		p.Project = common
	default:
		p.Project = top
	}
	if real, err := filepath.EvalSymlinks(p.Project); err == nil {
		p.Project = real
	}
	return p, true
}

// mark is made of the first line of the reflog: who made which first commit when. It goes with the folder, and a clone has
// one of its own.
func mark(common string) string {
	line := firstLine(filepath.Join(common, "logs", "HEAD"))
	if line == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(line))
	return hex.EncodeToString(sum[:16])
}

// findGit walks up from dir to the folder that has a git directory.
func findGit(dir string) (top, gitDir string, ok bool) {
	for {
		p := filepath.Join(dir, ".git")
		if info, err := os.Stat(p); err == nil {
			if info.IsDir() {
				if _, err := os.Stat(filepath.Join(p, "HEAD")); err == nil {
					return dir, p, true
				}
			} else if to, ok := strings.CutPrefix(firstLine(p), "gitdir: "); ok {
				return dir, join(dir, to), true
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", "", false
		}
		dir = parent
	}
}

func join(base, p string) string {
	p = filepath.FromSlash(p)
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

func firstLine(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return strings.TrimSpace(string(line))
}

func isHash(s string) bool {
	return len(s) >= 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// remoteURL reads from a git configuration the URL of the remote that the repository is about: of the one that
// `gh repo set-default` chose, else of upstream, which is what a fork is a fork of, else of origin, else of the first one.
func remoteURL(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	name := ""
	urls := map[string]string{}
	first, chosen := "", ""
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if strings.HasPrefix(line, "[") {
			name = ""
			if rest, ok := strings.CutPrefix(line, `[remote "`); ok {
				name, _, _ = strings.Cut(rest, `"`)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || name == "" {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "gh-resolved":
			if value == "base" {
				chosen = name
			}
		case "url":
			if urls[name] == "" {
				urls[name] = value
			}
			if first == "" {
				first = name
			}
		}
	}
	for _, n := range []string{chosen, "upstream", "origin", first} {
		if urls[n] != "" {
			return urls[n]
		}
	}
	return ""
}

// normalRemote makes one name of all spellings of a remote, without user, password and port; a path of this machine
// stays a path. It is empty for what names nothing by itself.
func normalRemote(remote string) string {
	host, path := "", remote
	if u, err := url.Parse(remote); err == nil && u.Host != "" && u.Scheme != "" {
		host, path = u.Hostname(), u.Path
	} else if strings.Contains(remote, "://") {
		if err != nil || u.Scheme != "file" {
			return ""
		}
		path = u.Path
	} else if before, after, ok := strings.Cut(remote, ":"); ok && len(before) > 1 && !strings.ContainsAny(before, `/\`) {
		// scp form; one letter before the colon is a drive.
		_, h, at := strings.Cut(before, "@")
		if !at {
			h = before
		}
		host, path = h, after
	}
	path = strings.TrimSuffix(strings.TrimRight(path, `/\`), ".git")
	if host == "" {
		if !filepath.IsAbs(path) {
			return ""
		}
		return path
	}
	path = strings.Trim(path, "/")
	if path == "" {
		return ""
	}
	return memory.RemoteProject(host, path)
}
