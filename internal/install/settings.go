package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// Key is one entry of a shared settings file that an installation needs: Section is an object at the top of the
// document, Name the entry in it.
type Key struct {
	Section string          `json:"section"`
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
}

// NewKey makes a key of a value that marshals to JSON.
func NewKey(section, name string, value any) (Key, error) {
	data, err := json.Marshal(value)
	return Key{section, name, data}, err
}

// Merge is the part of an installation that lies in a file of somebody else.
type Merge struct {
	Path string
	Keys []Key
}

// Merged is what the receipt knows of such a file.
type Merged struct {
	Keys    []Key    `json:"keys"`               // those that we added
	Owned   []string `json:"sections,omitempty"` // sections that were not there before
	Created bool     `json:"created,omitempty"`  // the file was not there before
	Splices []splice `json:"splices,omitempty"`  // what was done to the text, in order
}

// SettingsError is a shared settings file that cannot be edited safely.
type SettingsError struct {
	Path string
	Err  error
}

func (e *SettingsError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *SettingsError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *SettingsError) Hint() string {
	var h interface{ Hint() string }
	if errors.As(e.Err, &h) && h.Hint() != "" {
		return h.Hint()
	}
	return "correct the file, then run the command again; nothing was changed"
}

// checkSettings refuses a text that is not one JSON object, or where a section is not an object.
func checkSettings(text []byte, keys []Key) error {
	doc, err := plugin.ParseJSON(text)
	if err != nil {
		return err
	}
	if !doc.Is(plugin.Map) {
		return errors.New("not a JSON object")
	}
	for _, k := range keys {
		if v := doc.Get(k.Section); v != nil && !v.Is(plugin.Map) {
			return fmt.Errorf("line %d column %d: %q is not an object", v.Line, v.Column, k.Section)
		}
	}
	return nil
}

// current gives the value of a key in a checked text; nil when it is not there.
func current(text []byte, k Key) []byte {
	top, _ := readObject(text, 0)
	section, i := top.find(k.Section)
	if i < 0 {
		return nil
	}
	o, _ := readObject(text, section.val)
	m, i := o.find(k.Name)
	if i < 0 {
		return nil
	}
	return text[m.val:m.stop]
}

// addKey puts one key into a checked text that has no such key.
func addKey(text []byte, k Key, m *Merged) []byte {
	s := styleOf(text)
	top, _ := readObject(text, 0)
	section, i := top.find(k.Section)
	var cut splice
	if i < 0 {
		m.Owned = append(m.Owned, k.Section)
		cut = insert(text, top, "", k.Section, map[string]json.RawMessage{k.Name: k.Value}, s)
	} else {
		_, indent, broken := lead(text, top.before(text, i), section.start)
		if !broken {
			indent = ""
		}
		o, _ := readObject(text, section.val)
		cut = insert(text, o, indent, k.Name, k.Value, s)
	}
	m.Keys, m.Splices = append(m.Keys, k), append(m.Splices, cut)
	return cut.apply(text)
}

// takeOut removes our keys from a text that somebody else has changed since, and the sections that we brought and
// that are now empty. A marketplace or plugin that points elsewhere by now is left; kept names it.
func (m Merged) takeOut(text []byte) (out []byte, kept []string) {
	for _, k := range m.Keys {
		now := current(text, k)
		if now == nil {
			continue
		}
		if !sameJSON(now, k.Value) && !(isBool(now) && isBool(k.Value)) { // switched off is still ours
			kept = append(kept, k.Section+"."+k.Name)
			continue
		}
		top, _ := readObject(text, 0)
		section, _ := top.find(k.Section)
		o, _ := readObject(text, section.val)
		_, i := o.find(k.Name)
		text = remove(text, o, i).apply(text)
	}
	for _, name := range m.Owned {
		top, _ := readObject(text, 0)
		if section, i := top.find(name); i >= 0 {
			if o, ok := readObject(text, section.val); ok && len(o.members) == 0 {
				text = remove(text, top, i).apply(text)
			}
		}
	}
	return text, kept
}

func isBool(v []byte) bool { return string(v) == "true" || string(v) == "false" }

// undo gives the text without our keys: byte for byte what it was when nobody has touched it since.
func (m Merged) undo(text []byte, untouched bool) (out []byte, kept []string) {
	if !untouched {
		return m.takeOut(text)
	}
	for i := len(m.Splices) - 1; i >= 0; i-- {
		text = m.Splices[i].undo(text)
	}
	return text, nil
}

// merge plans the edit of a shared settings file.
func (d *differ) merge(want Merge) {
	text, state, err := d.look(want.Path)
	if err != nil {
		d.fail(err)
		return
	}
	if state == foreign {
		d.fail(&SettingsError{d.full(want.Path), errors.New("not a regular file")})
		return
	}
	old, owned := d.receipt.file(want.Path)
	info := Merged{Created: state == absent}
	switch {
	case state == absent:
		text = []byte("{}\n")
	case owned && old.Merged != nil:
		info = *old.Merged
	}
	if err := checkSettings(text, want.Keys); err != nil {
		d.fail(&SettingsError{d.full(want.Path), err})
		return
	}
	missing := false
	for _, k := range want.Keys {
		now := current(text, k)
		switch {
		case now == nil:
			missing = true
		case !sameJSON(now, k.Value) && !info.has(k, now):
			d.keepSettings(want.Path, old, owned, fmt.Sprintf("%s.%s says something else; change or remove it by hand", k.Section, k.Name))
			return
		case !sameJSON(now, k.Value):
			missing = true
		}
	}
	if !missing {
		d.keepSettings(want.Path, old, owned, "up to date")
		return
	}
	next, edited := text, Merged{Created: info.Created}
	if len(info.Keys) > 0 { // start again from the text without ours
		next, _ = info.undo(next, hash(text) == old.SHA256)
	}
	for _, k := range want.Keys {
		if current(next, k) == nil {
			next = addKey(next, k, &edited)
		}
	}
	edited.Owned = union(edited.Owned, info.Owned)
	op := Op{Op: OpUpdate, Path: want.Path, Reason: added(len(want.Keys)), Data: next, After: hash(next), Mode: d.mode(want.Path)}
	if state == absent {
		op.Op, op.Reason, op.Mode = OpCreate, "", 0o600
	} else {
		op.Before = hash(text)
	}
	d.makeDirs(path.Dir(want.Path))
	d.plan.Ops = append(d.plan.Ops, op)
	d.record(File{Path: want.Path, Mode: modeText(op.Mode), SHA256: op.After, Was: op.Before, Merged: &edited})
}

func added(keys int) string {
	if keys == 1 {
		return "one key added, the rest stays byte for byte"
	}
	return strconv.Itoa(keys) + " keys added, the rest stays byte for byte"
}

func (d *differ) keepSettings(name string, old File, owned bool, reason string) {
	d.plan.Ops = append(d.plan.Ops, Op{Op: OpKeep, Path: name, Mode: d.mode(name), Reason: reason})
	if owned {
		d.record(old)
	}
}

// has reports whether we added this key with the value that is there now.
func (m Merged) has(k Key, now []byte) bool {
	for _, have := range m.Keys {
		if have.Section == k.Section && have.Name == k.Name && sameJSON(have.Value, now) {
			return true
		}
	}
	return false
}

func (d *differ) mode(name string) fs.FileMode {
	if info, err := fs.Stat(d.disk, name); err == nil {
		return info.Mode().Perm()
	}
	return 0o600
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}
