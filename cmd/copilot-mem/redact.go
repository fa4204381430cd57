package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
	"github.com/copilot-mem/copilot-mem/internal/redact"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type redactJSON struct {
	SchemaVersion int             `json:"schemaVersion"`
	Applied       bool            `json:"applied"`
	Secrets       int             `json:"secrets"` // found; with --apply: taken out
	Findings      []redactFinding `json:"findings"`
}

type redactFinding struct {
	Path    string `json:"path"`
	Column  string `json:"column"` // "entries.text"; empty for a file of lines
	Rows    int    `json:"rows"`   // or lines
	Secrets int    `json:"secrets"`
}

func newRedactCmd(e *env) *cobra.Command {
	var prove, apply, asJSON bool
	cmd := &cobra.Command{
		Use: "redact (--prove | --apply)", Short: "Look for secrets in what is stored, with the rules of today", Args: cobra.NoArgs,
		Long: `Look for secrets in every column of the store and its backups and in every file beside them, with the rules of today: what
was stored by an older version may hold what only a newer one recognises. --prove only looks, and ends with exit code 3 when
something is found; --apply takes it out. No secret is printed.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if prove == apply {
				return &usageError{errors.New("give --prove to look, or --apply to clean"), ""}
			}
			return e.redact(cmd.Context(), apply, asJSON)
		},
	}
	cmd.Flags().BoolVar(&prove, "prove", false, "look, and change nothing")
	cmd.Flags().BoolVar(&apply, "apply", false, "take out what is found")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func (e *env) redact(ctx context.Context, apply, asJSON bool) (err error) {
	db, err := e.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	dir, err := e.dataDir()
	if err != nil {
		return err
	}
	out := redactJSON{1, apply, 0, []redactFinding{}}
	if err := out.store(ctx, db, apply); err != nil {
		return err
	}
	backups, err := backupFiles(dir)
	if err != nil {
		return err
	}
	for _, path := range backups {
		if err := out.backup(ctx, path, apply); err != nil {
			return err
		}
	}
	if err := out.files(dir, apply); err != nil {
		return err
	}
	if asJSON {
		err = e.printJSON(out)
	} else {
		err = out.print(e.Stdout)
	}
	if err == nil && len(out.Findings) > 0 && !apply {
		return codeError(exitFindings)
	}
	return err
}

func (out *redactJSON) add(f redactFinding) {
	out.Findings = append(out.Findings, f)
	out.Secrets += f.Secrets
}

func (out *redactJSON) store(ctx context.Context, db *store.DB, apply bool) error {
	found, err := db.Redact(ctx, redact.Text, apply)
	if err != nil {
		return err
	}
	for _, f := range found {
		out.add(redactFinding{db.Path(), f.Table + "." + f.Column, f.Rows, f.Secrets})
	}
	if apply {
		return db.Scrub(ctx)
	}
	return nil
}

func (out *redactJSON) backup(ctx context.Context, path string, apply bool) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := store.Open(ctx, path, storeOptions)
	if err != nil {
		return err
	}
	return errors.Join(out.store(ctx, db, apply), db.Close())
}

// files looks at every file of lines in the data folder. Lines of the spools are cleaned; the others are only told of.
func (out *redactJSON) files(dir datadir.Dir, apply bool) error {
	for _, folder := range []string{dir.Spool(), dir.Forward(), dir.State(), string(dir)} {
		entries, err := os.ReadDir(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range entries {
			path := filepath.Join(folder, f.Name())
			if !f.Type().IsRegular() || strings.HasPrefix(path, dir.DB()) {
				continue
			}
			lines, secrets, err := dirtyLines(path)
			if err != nil {
				return err
			}
			if lines > 0 {
				out.add(redactFinding{path, "", lines, secrets})
			}
		}
	}
	if !apply {
		return nil
	}
	clean := func(line []byte) []byte { text, _ := redact.Text(string(line)); return []byte(text) }
	for _, folder := range []string{dir.Spool(), dir.Forward()} {
		sp := spool.Spool{Dir: folder}
		if _, err := sp.Edit(clean, false); err != nil {
			return err
		}
		if _, err := sp.EditWaiting(clean); err != nil {
			return err
		}
	}
	return nil
}

// dirtyLines counts the lines of a file that today's rules would change.
func dirtyLines(path string) (lines, secrets int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil // a reader took it meanwhile
	}
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = f.Close() }() // read only: nothing can be lost
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		line = bytes.TrimRight(line, "\r\n")
		if text, n := redact.Text(string(line)); text != string(line) {
			lines++
			secrets += max(n, 1)
		}
		if errors.Is(err, io.EOF) {
			return lines, secrets, nil
		}
		if err != nil {
			return lines, secrets, err
		}
	}
}

func (out *redactJSON) print(w io.Writer) error {
	p := &lines{w: w}
	for _, f := range out.Findings {
		p.printf("%s  %s: %s in %s\n", screen(f.Path), f.Column, plural(f.Secrets, "secret", "secrets"), plural(f.Rows, "place", "places"))
	}
	switch {
	case len(out.Findings) == 0:
		p.printf("no rule of today finds anything\n")
	case out.Applied:
		p.printf("%s taken out\n", plural(out.Secrets, "secret", "secrets"))
	default:
		p.printf("%s found; `copilot-mem redact --apply` takes them out\n", plural(out.Secrets, "secret", "secrets"))
	}
	return p.err
}
