package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// merger keeps what two sources tell of one thing in one row: a hook and the client's transcript speak of the same prompt,
// call or result, in any order, and now and then of it twice. It has the statements that this takes in one transaction.
type merger struct {
	byID, counterpart, old, get, alias, update, note *sql.Stmt
	matched                                          map[string]bool // sessions whose rows all have a match
}

func (w *writer) openMerger() (m *merger, err error) {
	m = &merger{matched: map[string]bool{}}
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&m.byID, "SELECT seq FROM entries WHERE id = ?1 UNION ALL SELECT seq FROM aliases WHERE id = ?1 LIMIT 1"},
		// The input decides between equal results; then the one that is nearest in time.
		{&m.counterpart, `SELECT seq FROM entries WHERE session_id = ?1 AND match = ?2 AND match <> 0 AND sources & ?3 = 0 AND abs(time - ?4) <= ?5
ORDER BY tool_input = ?6 DESC, abs(time - ?4), seq LIMIT 1`},
		{&m.old, "SELECT seq, kind, tool, tool_input, text, result_type FROM entries WHERE session_id = ? AND match = -1 AND match <> 0"},
		{&m.get, "SELECT " + entryColumns + " FROM entries e WHERE e.seq = ?"},
		{&m.alias, "INSERT OR IGNORE INTO aliases (id, seq) VALUES (?, ?)"},
		{&m.update, `UPDATE entries SET kind = ?, time = ?, tool_input = ?, result_type = ?, text = ?, agent_id = ?, truncated = ?, redacted = ?,
call_id = ?, exit_code = ?, files = ?, model = ?, sources = ? WHERE seq = ?`},
		{&m.note, "UPDATE entries SET match = ? WHERE seq = ?"},
	} {
		if *p.stmt, err = w.prepare(p.query); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// known gives the row that has this id, or 0.
func (m *merger) known(w *writer, id string) (seq int64, err error) {
	err = m.byID.QueryRowContext(w.ctx, id).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return seq, err
}

// other gives the row in which another source tells the same, or 0.
func (m *merger) other(w *writer, e *memory.Entry) (seq int64, err error) {
	if e.Match == 0 {
		return 0, nil
	}
	if err := m.matchOld(w, e.SessionID); err != nil {
		return 0, err
	}
	window := memory.MatchWindow.Milliseconds()
	if sourcesOf(e) == memory.FromElsewhere {
		window = math.MaxInt64 // other programs note when they wrote it, which may be much later
	}
	err = m.counterpart.QueryRowContext(w.ctx, e.SessionID, e.Match, int(sourcesOf(e)), e.Time.UnixMilli(), window, string(e.ToolInput)).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return seq, err
}

// matchOld works out the match of rows that an older version of this program wrote.
func (m *merger) matchOld(w *writer, session string) error {
	if m.matched[session] {
		return nil
	}
	m.matched[session] = true
	rows, err := m.old.QueryContext(w.ctx, session)
	if err != nil {
		return err
	}
	found := map[int64]int64{}
	for rows.Next() {
		var seq int64
		var e memory.Entry
		var kind, input string
		if err := rows.Scan(&seq, &kind, &e.Tool, &input, &e.Text, &e.ResultType); err != nil {
			return errors.Join(err, rows.Close())
		}
		e.SessionID, e.Kind, e.ToolInput = session, memory.Kind(kind), json.RawMessage(input)
		found[seq] = oldMatch(e)
	}
	if err := firstError(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for seq, match := range found {
		if _, err := m.note.ExecContext(w.ctx, match, seq); err != nil {
			return err
		}
	}
	return nil
}

// oldMatch guesses the class from the kind. The start of a sub-agent looks like its prompt there, and its end does not
// say its name: these stay as they are.
func oldMatch(e memory.Entry) int64 {
	switch e.Kind {
	case memory.KindPrompt, memory.KindNotification:
		return memory.MatchKey(e.SessionID, memory.ClassSaid, "", e.Text)
	case memory.KindSubagent:
		if e.ResultType == "" {
			return memory.MatchKey(e.SessionID, memory.ClassSaid, "", e.Text)
		}
	case memory.KindToolCall:
		return memory.MatchKey(e.SessionID, memory.ClassCall, e.Tool, memory.CanonicalJSON(e.ToolInput))
	case memory.KindToolResult:
		return memory.MatchKey(e.SessionID, memory.ClassResult, e.Tool, e.Text)
	case memory.KindError:
		if e.Tool != "" {
			return memory.MatchKey(e.SessionID, memory.ClassResult, e.Tool, e.Text)
		}
		return memory.MatchKey(e.SessionID, memory.ClassError, "", e.Text)
	case memory.KindSessionStart:
		return memory.MatchKey(e.SessionID, memory.ClassStart, "", "")
	case memory.KindSessionEnd:
		return memory.MatchKey(e.SessionID, memory.ClassEnd, "", "")
	}
	return 0
}

// join adds to the row seq what e says and the row does not.
func (m *merger) join(w *writer, seq int64, e *memory.Entry) error {
	var old memory.Entry
	if err := scanEntry(m.get.QueryRowContext(w.ctx, seq).Scan, &old); err != nil {
		return err
	}
	if old.SessionID != e.SessionID {
		return nil
	}
	if old.ID != e.ID {
		if _, err := m.alias.ExecContext(w.ctx, e.ID, seq); err != nil {
			return err
		}
	}
	both := joined(old, *e)
	if same(old, both) {
		return nil
	}
	exit, files := nullable(both)
	if _, err := m.update.ExecContext(w.ctx, string(both.Kind), both.Time.UnixMilli(), string(both.ToolInput), both.ResultType, both.Text, both.AgentID,
		both.Truncated, both.Redacted, both.CallID, exit, files, both.Model, int(both.Sources), seq); err != nil {
		return err
	}
	w.merged++
	w.touched(e.SessionID, min(old.Time.UnixMilli(), both.Time.UnixMilli()), old.Kind, both.Kind)
	if old.Text != both.Text || string(old.ToolInput) != string(both.ToolInput) || old.Kind != both.Kind || !old.Time.Equal(both.Time) {
		if !w.waits[seq] {
			w.stale = append(w.stale, seq)
		}
		w.index(seq)
	}
	return nil
}

// joined is the row that results, whichever of the two came first: the transcript knows when and what it was, and who was
// meant by it; the hook has the words that it got.
func joined(old, e memory.Entry) memory.Entry {
	both, hook, script := old, old, e
	if sourcesOf(&e)&memory.FromTranscript == 0 {
		hook, script = e, old
	}
	both.Sources = sourcesOf(&old) | sourcesOf(&e)
	if sourcesOf(&script)&memory.FromTranscript != 0 {
		both.Kind, both.Time = script.Kind, script.Time
	}
	both.Text = first(hook.Text, script.Text)
	both.ResultType = first(hook.ResultType, script.ResultType)
	both.ToolInput = json.RawMessage(first(string(hook.ToolInput), string(script.ToolInput)))
	both.AgentID = first(script.AgentID, hook.AgentID)
	both.CallID = first(script.CallID, hook.CallID)
	both.Model = first(script.Model, hook.Model)
	if both.ExitCode == nil {
		both.ExitCode = e.ExitCode
	}
	if len(both.Files) == 0 {
		both.Files = e.Files
	}
	both.Truncated = old.Truncated && (e.Truncated || old.Text == both.Text)
	both.Redacted = max(old.Redacted, e.Redacted)
	return both
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// same reports whether b says nothing more than a.
func same(a, b memory.Entry) bool {
	return a.Kind == b.Kind && a.Time.Equal(b.Time) && string(a.ToolInput) == string(b.ToolInput) && a.ResultType == b.ResultType && a.Text == b.Text &&
		a.AgentID == b.AgentID && a.Truncated == b.Truncated && a.Redacted == b.Redacted && a.CallID == b.CallID &&
		(a.ExitCode == nil) == (b.ExitCode == nil) && slices.Equal(a.Files, b.Files) && a.Model == b.Model && a.Sources == b.Sources
}

// nullable gives the columns exit_code and files.
func nullable(e memory.Entry) (exit sql.NullInt64, files string) {
	if e.ExitCode != nil {
		exit = sql.NullInt64{Int64: int64(*e.ExitCode), Valid: true}
	}
	if len(e.Files) > 0 {
		if b, err := json.Marshal(e.Files); err == nil { // strings always have a form
			files = string(b)
		}
	}
	return exit, files
}

func sourcesOf(e *memory.Entry) memory.Sources {
	if e.Sources == 0 {
		return memory.FromHook
	}
	return e.Sources
}
