package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/install"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

type statusDoc struct {
	SchemaVersion int             `json:"schemaVersion"`
	Version       string          `json:"version"`
	Installs      []statusInstall `json:"installs"`
	Memory        statusMemory    `json:"memory"`
}

type statusInstall struct {
	Scope   string       `json:"scope"`
	Dir     string       `json:"dir"`
	Version string       `json:"version"`
	State   string       `json:"state"` // done, or pending where it was interrupted
	Files   []statusFile `json:"files"`
}

type statusFile struct {
	Path  string `json:"path"` // below dir, or absolute where it lies elsewhere
	State string `json:"state"`
}

// statusMemory is what is kept; times are null where nothing is.
type statusMemory struct {
	Dir       string  `json:"dir"`
	Sessions  int     `json:"sessions"`
	Entries   int     `json:"entries"`
	Projects  int     `json:"projects"`
	Bytes     int64   `json:"bytes"`   // of the store
	Waiting   int64   `json:"waiting"` // bytes of events that no reader has taken in yet
	LastEvent *string `json:"lastEvent"`
	Problem   string  `json:"problem"` // why the store does not say; empty where it does
	last      time.Time
}

func newStatusCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "What is installed where, and what is remembered, in one glance", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			doc, err := e.status(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(doc)
			}
			return e.printStatus(doc)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// status changes nothing: what waits is counted, and not taken in.
func (e *env) status(ctx context.Context) (statusDoc, error) {
	doc := statusDoc{SchemaVersion: 1, Version: pluginVersion(), Installs: []statusInstall{}}
	data, err := e.dataDir()
	if err != nil {
		return doc, err
	}
	records, err := install.Records(data.Receipts())
	if err != nil {
		return doc, err
	}
	for _, r := range records {
		doc.Installs = append(doc.Installs, statusInstall{r.Scope, r.Dir, r.Version, r.State, recordStates(r)})
	}
	doc.Memory = statusMemory{Dir: string(data)}
	_, doc.Memory.Waiting, err = spool.Spool{Dir: data.Spool()}.Pending()
	if err != nil {
		doc.Memory.Problem = err.Error()
	}
	if err := doc.Memory.count(ctx, data.DB()); err != nil {
		doc.Memory.Problem = err.Error()
	}
	return doc, nil
}

// count reads a store that is there and that nobody holds.
func (m *statusMemory) count(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return nil //nolint:nilerr // nothing is remembered yet
	}
	if err := store.Probe(ctx, path, lockPatience); err != nil {
		return err
	}
	db, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // only read
	c, err := db.Counts(ctx)
	if err != nil {
		return err
	}
	m.Sessions, m.Entries, m.Projects, m.Bytes, m.last = c.Sessions, c.Entries, c.Projects, c.Bytes, c.Last
	if !c.Last.IsZero() {
		text := c.Last.UTC().Format("2006-01-02T15:04:05.000Z")
		m.LastEvent = &text
	}
	return nil
}

// recordStates compares one installation with the disk. A folder that cannot be read counts as changed.
func recordStates(r install.Record) []statusFile {
	files := []statusFile{}
	for _, receipt := range r.Receipts {
		states, err := install.ReadDrift(receipt)
		if err != nil {
			for _, f := range receipt.Files {
				states = append(states, install.FileState{Path: f.Path, State: install.Changed})
			}
		}
		for _, s := range states {
			files = append(files, statusFile{shownPath(r.Dir, receipt.Dir, s.Path), s.State})
		}
	}
	return files
}

// printStatus fits on one screen: files are named only where they are not as they were installed.
func (e *env) printStatus(doc statusDoc) error {
	paint := painter(e)
	fmt.Fprintln(e.Stdout, "copilot-mem "+doc.Version)
	if len(doc.Installs) == 0 {
		fmt.Fprintln(e.Stdout, "nothing is installed; run `copilot-mem init`")
	}
	for _, i := range doc.Installs {
		ok, rest := 0, []statusFile{}
		for _, f := range i.Files {
			if f.State == "ok" {
				ok++
			} else {
				rest = append(rest, f)
			}
		}
		note := fmt.Sprintf("%d files ok", ok)
		if len(rest) > 0 {
			note += fmt.Sprintf(", %d not", len(rest))
		}
		if i.State == install.Pending {
			note += "; interrupted: run the same init or uninstall again"
		}
		fmt.Fprintf(e.Stdout, "  %-7s %s  %s  %s\n", i.Scope, i.Version, note, i.Dir)
		for _, f := range rest {
			fmt.Fprintf(e.Stdout, "          %s %s\n", paint(yellow, f.State), flat(f.Path))
		}
	}
	m := doc.Memory
	if m.Problem != "" {
		_, err := fmt.Fprintf(e.Stdout, "memory    %s\n          run `copilot-mem doctor`\n", paint(red, flat(m.Problem)))
		return err
	}
	last := "nothing yet"
	if !m.last.IsZero() {
		last = m.last.Local().Format("2006-01-02 15:04")
	}
	waiting := ""
	if m.Waiting > 0 {
		waiting = ", " + showSize(m.Waiting) + " waiting"
	}
	_, err := fmt.Fprintf(e.Stdout, "memory    %d entries of %d sessions in %d projects, %s%s; last event %s\n          %s\n",
		m.Entries, m.Sessions, m.Projects, showSize(m.Bytes), waiting, last, m.Dir)
	return err
}
