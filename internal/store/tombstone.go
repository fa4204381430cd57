package store

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"hash"
	"slices"
	"strconv"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// tombstoneBytes of a keyed hash are kept: enough never to meet by chance.
const tombstoneBytes = 16

// tombstones says what was forgotten. They are keyed hashes: whoever reads them learns nothing, but can test a guess.
type tombstones struct {
	ctx   context.Context //nolint:containedctx // lives as long as one transaction
	mac   hash.Hash
	key   []byte
	find  *sql.Stmt
	any   bool  // there are some
	from  int64 // entries before it are not kept, see [DB.Retain]
	last  int64 // when something was forgotten for the last time: what comes later is new, though it says the same
	texts []forgottenText
	known map[[tombstoneBytes]byte]int64 // answers of until
}

type forgottenText struct {
	hash    []byte
	rolling uint64
	length  int
	until   int64
}

// openTombstones reads what all questions of one transaction share. The caller closes find.
func openTombstones(ctx context.Context, tx *sql.Tx) (*tombstones, error) {
	t := &tombstones{ctx: ctx, known: map[[tombstoneBytes]byte]int64{}}
	err := tx.QueryRowContext(ctx, `SELECT value, EXISTS (SELECT 1 FROM tombstones),
  coalesce((SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM meta WHERE key = 'last'), 0),
  coalesce((SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM meta WHERE key = ?), 0)
FROM meta WHERE key = 'key'`, keptFromKey).Scan(&t.key, &t.any, &t.last, &t.from)
	if err != nil {
		return nil, err
	}
	t.mac = hmac.New(sha256.New, t.key)
	rows, err := tx.QueryContext(ctx, "SELECT hash, rolling, length, until FROM forgotten_texts")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		var f forgottenText
		var rolling int64
		if err := rows.Scan(&f.hash, &rolling, &f.length, &f.until); err != nil {
			return nil, err
		}
		f.rolling = uint64(rolling)
		t.texts = append(t.texts, f)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	t.find, err = tx.PrepareContext(ctx, "SELECT coalesce(max(until), 0) FROM tombstones WHERE hash = ? AND until BETWEEN ? AND ?")
	return t, err
}

func (t *tombstones) close() { _ = t.find.Close() } // the transaction ends it anyway

// hash is the tombstone of parts; no two lists of parts have the same.
func (t *tombstones) hash(parts ...string) (sum [tombstoneBytes]byte) {
	t.mac.Reset()
	var size [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		t.mac.Write(size[:])
		_, _ = t.mac.Write([]byte(p)) // a hash takes everything
	}
	copy(sum[:], t.mac.Sum(nil))
	return sum
}

func (t *tombstones) entryID(id string) [tombstoneBytes]byte   { return t.hash("entry", id) }
func (t *tombstones) session(id string) [tombstoneBytes]byte   { return t.hash("session", id) }
func (t *tombstones) project(name string) [tombstoneBytes]byte { return t.hash("project", name) }
func (t *tombstones) everything() [tombstoneBytes]byte         { return t.hash("everything") }

// content is the tombstone of what an entry says, for the sources that give it another id.
func (t *tombstones) content(e *memory.Entry) [tombstoneBytes]byte {
	if e.Match != 0 && e.Match != -1 {
		return t.hash("match", strconv.FormatInt(e.Match, 16))
	}
	return t.hash("content", e.SessionID, string(e.Kind), strings.ToLower(e.Tool), memory.CanonicalJSON(e.ToolInput), strings.TrimSpace(e.Text))
}

// until is the time in milliseconds up to which something was forgotten, 0 where it was not.
func (t *tombstones) until(sum [tombstoneBytes]byte) (int64, error) {
	if !t.any {
		return 0, nil
	}
	if at, ok := t.known[sum]; ok {
		return at, nil
	}
	at, err := t.between(sum, 0, 1<<62)
	t.known[sum] = at
	return at, err
}

func (t *tombstones) between(sum [tombstoneBytes]byte, from, to int64) (at int64, err error) {
	err = t.find.QueryRowContext(t.ctx, sum[:], from, to).Scan(&at)
	return at, err
}

// sessionUntil is the time up to which all of a session was forgotten: by its id, with its project, or with everything.
func (t *tombstones) sessionUntil(id, project string) (int64, error) {
	last := int64(0)
	for _, sum := range [][tombstoneBytes]byte{t.session(id), t.project(project), t.everything()} {
		at, err := t.until(sum)
		if err != nil {
			return 0, err
		}
		last = max(last, at)
	}
	return last, nil
}

// forgotten reports whether an entry must stay away.
func (t *tombstones) forgotten(e *memory.Entry, project string) (bool, error) {
	at := e.Time.UnixMilli()
	if at < t.from && e.Kind != memory.KindNote {
		return true, nil
	}
	if t.any {
		until, err := t.sessionUntil(e.SessionID, project)
		if err != nil || until > 0 && at <= until {
			return err == nil, err
		}
		sum := t.entryID(e.ID)
		if found, err := t.between(sum, 0, 1<<62); err != nil || found != 0 {
			return err == nil, err
		}
		if at > t.last {
			return false, nil
		}
		window := memory.MatchWindow.Milliseconds()
		if found, err := t.between(t.content(e), at-window, at+window); err != nil || found != 0 {
			return err == nil, err
		}
	}
	return t.holdsForgotten(at, e.Text, string(e.ToolInput), inputText(*e)), nil
}

// title stands for the name that the client made of a session's first prompt.
func (t *tombstones) title(session string) [tombstoneBytes]byte { return t.hash("title", session) }

func (t *tombstones) titleForgotten(s memory.Session) (bool, error) {
	if s.Title == "" || t.holdsForgotten(s.StartedAt.UnixMilli(), s.Title) {
		return true, nil
	}
	at, err := t.until(t.title(s.ID))
	return at > 0, err
}

// holdsForgotten reports whether words that were forgotten after the time at stand in one of texts.
func (t *tombstones) holdsForgotten(at int64, texts ...string) bool {
	for _, f := range t.texts {
		if at > f.until {
			continue
		}
		for _, s := range texts {
			if t.contains(strings.ToLower(s), f) {
				return true
			}
		}
	}
	return false
}

// contains looks for the words with a rolling hash, and asks the keyed hash where that one fits.
func (t *tombstones) contains(s string, f forgottenText) bool {
	if len(s) < f.length {
		return false
	}
	base, out := t.base(), uint64(1)
	for range f.length - 1 {
		out *= base
	}
	sum := rolling(s[:f.length], base)
	for i := 0; ; i++ {
		if sum == f.rolling {
			if h := t.textHash(s[i : i+f.length]); bytes.Equal(h[:], f.hash) {
				return true
			}
		}
		if i+f.length == len(s) {
			return false
		}
		sum = (sum-uint64(s[i])*out)*base + uint64(s[i+f.length])
	}
}

func (t *tombstones) textHash(lower string) [tombstoneBytes]byte { return t.hash("text", lower) }

// base is odd, so that no byte of a long text is multiplied away.
func (t *tombstones) base() uint64 { return binary.BigEndian.Uint64(t.key) | 1 }

func rolling(s string, base uint64) (sum uint64) {
	for i := range len(s) {
		sum = sum*base + uint64(s[i])
	}
	return sum
}

// put remembers that something was forgotten up to, or at, a time; 0 would say that it was not.
func (t *tombstones) put(tx *sql.Tx, sum [tombstoneBytes]byte, at int64) error {
	_, err := tx.ExecContext(t.ctx, "INSERT OR IGNORE INTO tombstones (hash, until) VALUES (?, ?)", sum[:], max(at, 1))
	return err
}

const putLast = `INSERT INTO meta (key, value) VALUES ('last', CAST(?1 AS BLOB))
ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE CAST(CAST(value AS TEXT) AS INTEGER) < ?1`

// putText remembers words that were forgotten.
func (t *tombstones) putText(tx *sql.Tx, text string, until int64) error {
	lower := strings.ToLower(text)
	sum := t.textHash(lower)
	t.texts = append(t.texts, forgottenText{sum[:], rolling(lower, t.base()), len(lower), until})
	_, err := tx.ExecContext(t.ctx, `INSERT INTO forgotten_texts (hash, rolling, length, until) VALUES (?, ?, ?, ?)
ON CONFLICT (hash) DO UPDATE SET until = max(until, excluded.until)`, sum[:], int64(rolling(lower, t.base())), len(lower), until)
	return err
}

// adoptForgotten turns the plain ids that schema 1 kept into tombstones.
func adoptForgotten(ctx context.Context, tx *sql.Tx) error {
	t, err := openTombstones(ctx, tx)
	if err != nil {
		return err
	}
	defer t.close()
	type row struct {
		id string
		at int64
	}
	var all []row
	rows, err := tx.QueryContext(ctx, "SELECT id, time FROM forgotten")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.id, &r.at); err != nil {
			return err
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, r := range all {
		sum := t.entryID(r.id)
		if session, ok := strings.CutPrefix(r.id, "session:"); ok {
			sum = t.session(session)
		}
		if err := t.put(tx, sum, r.at); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "DROP TABLE forgotten"); err != nil || len(all) == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO meta (key, value) VALUES ('scrub', x'01')")
	return err
}

// inputText is what can be forgotten by word of a tool call: the tool's name and every string, number and key of its input.
func inputText(e memory.Entry) string {
	var b strings.Builder
	b.WriteString(e.Tool)
	if len(e.ToolInput) > 0 {
		var v any
		if json.Unmarshal(e.ToolInput, &v) != nil {
			b.WriteByte('\n')
			b.Write(e.ToolInput)
			return b.String()
		}
		appendText(&b, v)
	}
	return b.String()
}

func appendText(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteByte('\n')
		b.WriteString(v)
	case []any:
		for _, x := range v {
			appendText(b, x)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			appendText(b, v[k])
		}
	}
}
