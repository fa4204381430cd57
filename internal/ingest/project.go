package ingest

import (
	"bufio"
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// ProjectOf returns what a folder belongs to: "host/owner/name" of the git remote, else the folder of the repository's
// main work tree, else the folder itself. Subfolders and work trees give the same. The branch is empty outside git, and
// when none is checked out. Only files are read; no program is run.
func ProjectOf(dir string) (project, branch string) {
	project, branch, ok := GitProject(dir)
	if !ok && dir != "" {
		return filepath.Clean(dir), ""
	}
	return project, branch
}

// GitProject is [ProjectOf] for a folder inside git; ok is false outside.
func GitProject(dir string) (project, branch string, ok bool) {
	if !filepath.IsAbs(dir) {
		return "", "", false
	}
	top, gitDir, ok := findGit(filepath.Clean(dir))
	if !ok {
		return "", "", false
	}
	common := gitDir
	if rel := firstLine(filepath.Join(gitDir, "commondir")); rel != "" {
		common = join(gitDir, rel)
	}
	branch, _ = strings.CutPrefix(firstLine(filepath.Join(gitDir, "HEAD")), "ref: refs/heads/")
	if strings.Contains(branch, "ref: ") || isHash(branch) {
		branch = ""
	}
	if remote := remoteURL(filepath.Join(common, "config")); remote != "" {
		if project = normalRemote(remote); project != "" {
			return project, branch, true
		}
	}
	// The main work tree holds the common directory; that of a submodule lies elsewhere and of a bare repository is none.
	switch {
	case filepath.Base(common) == ".git":
		project = filepath.Dir(common)
	case common != gitDir:
		project = common
	default:
		project = top
	}
	if real, err := filepath.EvalSymlinks(project); err == nil {
		project = real
	}
	return project, branch, true
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

// remoteURL reads the URL of the remote origin, or of the first one, from a git configuration.
func remoteURL(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	first, name := "", ""
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
		if !ok || name == "" || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if name == "origin" {
			return value
		}
		if first == "" {
			first = value
		}
	}
	return first
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
	host = strings.ToLower(host)
	if host == "ssh.github.com" { // ssh over the https port
		host = "github.com"
	}
	path = strings.Trim(path, "/")
	if path == "" {
		return ""
	}
	return host + "/" + path
}
