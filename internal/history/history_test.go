package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/copilot-mem/copilot-mem/internal/index"
	"github.com/copilot-mem/copilot-mem/internal/ingest"
	"github.com/copilot-mem/copilot-mem/internal/memory"
	"github.com/copilot-mem/copilot-mem/internal/search"
	"github.com/copilot-mem/copilot-mem/internal/spool"
	"github.com/copilot-mem/copilot-mem/internal/store"
)

const synthetic = 200

func less(a, b fact) bool { return fmt.Sprint(a) < fmt.Sprint(b) }

// sameFacts compares without regard to order; equal facts must be there equally often.
func sameFacts(t *testing.T, what string, want, got []fact) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(less), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestEveryEntryIsFoundAgain(t *testing.T) {
	home := t.TempDir()
	var all []made
	kinds := map[memory.Kind]int{}
	for i := range synthetic {
		m := makeSession(i, 600)
		m.write(t, home)
		all = append(all, m)
		for _, f := range m.Want {
			kinds[f.Kind]++
		}
	}
	for _, k := range []memory.Kind{
		memory.KindPrompt, memory.KindResponse, memory.KindToolCall, memory.KindToolResult, memory.KindError, memory.KindSessionStart,
		memory.KindSessionEnd, memory.KindSubagent, memory.KindCompaction, memory.KindNotification, memory.KindSkill, memory.KindAbort,
	} {
		if kinds[k] == 0 {
			t.Errorf("the generator made no %s: the test does not see it", k)
		}
	}
	db := newStore(t)
	r := importAll(t, db, home, nil)
	total := 0
	for _, n := range kinds {
		total += n
	}
	if diff := cmp.Diff(Report{Found: synthetic, Imported: synthetic, Entries: total}, r); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	c, err := db.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kinds, c.Kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	for _, m := range all {
		sameFacts(t, m.ID, m.Want, facts(t, db, m.ID))
		s, err := db.Session(t.Context(), m.ID)
		if err != nil {
			t.Fatal(err)
		}
		if s.Project != "github.com/acme/app" || s.Branch != "main" || s.Title != "Title of "+m.ID || s.Model != "model-b" ||
			s.HeadCommit != strings.Repeat("ab", 20) || s.EndReason != "complete" || s.Client != "copilot" {
			t.Fatalf("session: %+v", s)
		}
	}
	before := dump(t, db)
	if diff := cmp.Diff(Report{Found: synthetic, Unchanged: synthetic}, importAll(t, db, home, nil)); diff != "" {
		t.Errorf("second import (-want +got):\n%s", diff)
	}
	if after := dump(t, db); after != before {
		t.Error("a second import changed the store")
	}
	_, hits, err := db.Find(t.Context(), memory.Query{}, index.Query{Terms: []index.Term{{Word: search.Stem("remembered"), Weight: 1}}})
	if err != nil || len(hits) > 0 {
		t.Errorf("%d hits (%v) of what is not to be remembered", len(hits), err)
	}
}

// dump is everything that the store says of sessions and entries.
func dump(t *testing.T, db *store.DB) string {
	t.Helper()
	var b bytes.Buffer
	sessions, err := db.Sessions(t.Context(), memory.Query{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		fmt.Fprintf(&b, "%+v\n", s)
		entries, err := db.Entries(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			j, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(j)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// ingestHooks brings lines of hooks into the store as the spool would.
func ingestHooks(t *testing.T, db *store.DB, lines []hookLine) {
	t.Helper()
	sp := spool.Spool{Dir: t.TempDir()}
	for i, l := range lines {
		payload, err := json.Marshal(l.Payload)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf(`{"v":1,"id":"%d","event":%q,"at":%d,"payload":%s}`, i, l.Event, l.At.UnixMilli(), payload)
		if err := sp.Append([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := ingest.Run(t.Context(), sp, db); err != nil || r.Failed > 0 {
		t.Fatalf("ingest: %+v, %v", r, err)
	}
}

// TestHooksAndTranscriptAreOne brings the same sessions by hooks and by transcripts, in every order, and wants what the
// transcripts alone would have given.
func TestHooksAndTranscriptAreOne(t *testing.T) {
	for _, order := range []string{"hooks first", "import first", "interleaved"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			db, home := newStore(t), t.TempDir()
			for i := range 25 {
				m := makeSession(i, 300)
				switch order {
				case "hooks first":
					ingestHooks(t, db, m.Hooks)
					m.write(t, home)
					importAll(t, db, home, nil)
				case "import first":
					m.write(t, home)
					importAll(t, db, home, nil)
					ingestHooks(t, db, m.Hooks)
				case "interleaved":
					interleave(t, db, home, m)
				}
				sameFacts(t, m.ID, m.Want, facts(t, db, m.ID))
			}
			before := dump(t, db)
			importAll(t, db, home, nil)
			if dump(t, db) != before {
				t.Error("another import changed the store")
			}
		})
	}
}

// interleave lets hooks and imports take turns while the session goes on, as in life.
func interleave(t *testing.T, db *store.DB, home string, m made) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(len(m.Lines))))
	lines, hooks := m.Lines, m.Hooks
	for shown := 0; shown < len(lines); {
		shown = min(len(lines), shown+1+r.IntN(12))
		part := m
		part.Lines = lines[:shown]
		if r.IntN(2) == 0 {
			part.write(t, home)
			importAll(t, db, home, nil)
		}
		n := min(len(hooks), r.IntN(8))
		ingestHooks(t, db, hooks[:n])
		hooks = hooks[n:]
	}
	m.write(t, home)
	importAll(t, db, home, nil)
	ingestHooks(t, db, hooks)
}

// TestRecorded reads what the real client wrote (1.0.102) and counts it by other means.
func TestRecorded(t *testing.T) {
	db := newStore(t)
	root := filepath.Join("testdata", "recorded")
	r := importAll(t, db, root, nil)
	if r.Found != 5 || r.Imported != 5 || r.Damaged != 0 || len(r.Problems) > 0 {
		t.Errorf("report: %+v; want 5 sessions and no problem", r)
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "events.jsonl"))
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		session := filepath.Base(filepath.Dir(f))
		want, got := countRaw(t, f), map[string]int{}
		for _, x := range facts(t, db, session) {
			kind := string(x.Kind)
			if x.Kind == memory.KindError && x.Tool != "" {
				kind = string(memory.KindToolResult)
			}
			if x.Kind == memory.KindSubagent && x.Text != "explore" && x.Text != "general-purpose" {
				kind = "said to or by a subagent"
			}
			got[kind]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-in the file +in the store):\n%s", f, diff)
		}
	}
	before := dump(t, db)
	if r := importAll(t, db, root, nil); r.Unchanged != 5 || r.Entries != 0 {
		t.Errorf("second import: %+v", r)
	}
	if dump(t, db) != before {
		t.Error("a second import changed the store")
	}
}

// countRaw counts with nothing but the names of the events.
func countRaw(t *testing.T, path string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for line := range strings.Lines(string(data)) {
		var e struct {
			Type, AgentID string
			Data          map[string]any
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "session.start", "session.resume":
			n["sessionStart"]++
		case "session.shutdown":
			n["sessionEnd"]++
		case "user.message":
			if e.AgentID == "" && e.Data["source"] == nil {
				n["prompt"]++
			} else if e.AgentID != "" {
				n["said to or by a subagent"]++
			}
		case "assistant.message":
			if e.Data["content"] != "" {
				n["response"]++
			}
			if calls, _ := e.Data["toolRequests"].([]any); len(calls) > 0 {
				n["toolCall"] += len(calls)
			}
		case "tool.execution_complete":
			n["toolResult"]++
		case "session.compaction_complete":
			n["compaction"]++
		case "subagent.started":
			n["subagent"]++
		case "subagent.completed":
			n["said to or by a subagent"]++
		}
	}
	return n
}

func TestReasoningOnlyWhenAskedFor(t *testing.T) {
	home := t.TempDir()
	thoughts := 0
	for i := range 10 {
		m := makeSession(i, 100)
		m.write(t, home)
		thoughts += strings.Count(strings.Join(m.Lines, ""), "unless asked for")
	}
	db := newStore(t)
	without := importAll(t, db, home, nil)
	with := importAll(t, db, home, func(o *Options) { o.Reasoning = true })
	if thoughts == 0 || with.Entries != thoughts || with.Updated == 0 {
		t.Errorf("without: %+v, with: %+v; want %d thoughts more", without, with, thoughts)
	}
	again := importAll(t, db, home, func(o *Options) { o.Files = asLive(o.Files) })
	if again.Entries != 0 {
		t.Errorf("without once more: %+v", again)
	}
	c, err := db.Counts(t.Context())
	if err != nil || c.Kinds[memory.KindReasoning] != thoughts {
		t.Errorf("%d thoughts are kept (%v), want %d", c.Kinds[memory.KindReasoning], err, thoughts)
	}
}

func asLive(files []File) []File {
	files = slices.Clone(files)
	for i := range files {
		files[i].Live = true
	}
	return files
}

func TestDryRunAndSince(t *testing.T) {
	home, db := t.TempDir(), newStore(t)
	want := 0
	for i := range 5 {
		m := makeSession(i, 100)
		m.write(t, home)
		want += len(m.Want)
	}
	dry := importAll(t, db, home, func(o *Options) { o.DryRun = true })
	if dry.Imported != 5 || dry.Entries != want {
		t.Errorf("dry run: %+v, want 5 sessions and %d entries", dry, want)
	}
	if c, err := db.Counts(t.Context()); err != nil || c.Sessions+c.Entries != 0 {
		t.Errorf("a dry run left %+v, %v", c, err)
	}
	if r := importAll(t, db, home, func(o *Options) { o.Since = start.Add(3 * time.Hour) }); r.Found != 2 || r.Imported != 2 {
		t.Errorf("since the fourth session: %+v", r)
	}
	if r := importAll(t, db, home, nil); r.Imported != 3 || r.Unchanged != 2 {
		t.Errorf("the rest: %+v", r)
	}
}

// TestWithdrawn is a rewind: the client writes the file again with less in it.
func TestWithdrawn(t *testing.T) {
	db, home := newStore(t), t.TempDir()
	var m made
	for i := 0; ; i++ { // one with more than one prompt
		if m = makeSession(i, 100); strings.Count(strings.Join(m.Lines, ""), `"user.message"`) > 3 {
			break
		}
	}
	last := 0
	for i, l := range m.Lines {
		if strings.HasPrefix(l, `{"type":"user.message"`) && !strings.Contains(l, `"agentId"`) && !strings.Contains(l, `"source"`) {
			last = i
		}
	}
	live := func(o *Options) { o.Files = asLive(o.Files) }
	ingestHooks(t, db, m.Hooks)
	m.write(t, home)
	importAll(t, db, home, live)
	rewound := m
	rewound.Lines = m.Lines[:last]
	path := rewound.write(t, home)
	if r := importAll(t, db, home, live); r.Updated != 1 || r.Entries != 0 {
		t.Errorf("after the rewind: %+v", r)
	}
	kept, err := db.Entries(t.Context(), m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != len(m.Want) {
		t.Errorf("%d entries after the rewind, want all %d", len(kept), len(m.Want))
	}
	cut := kept[0].Time
	for _, e := range kept {
		if e.Kind == memory.KindPrompt {
			cut = e.Time
		}
	}
	for _, e := range kept {
		if want := !e.Time.Before(cut) && e.Kind != memory.KindSessionEnd && e.Kind != memory.KindSessionStart; e.Withdrawn != want {
			t.Errorf("%s %s %q: withdrawn %t, want %t", e.Time, e.Kind, e.Text, e.Withdrawn, want)
		}
	}
	// A damaged file says nothing of what is gone.
	broken := m
	broken.Lines = append(slices.Clone(m.Lines[:2]), "broken")
	broken.write(t, home)
	marks := func() (n int) {
		entries, err := db.Entries(t.Context(), m.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Withdrawn {
				n++
			}
		}
		return n
	}
	was := marks()
	if r := importAll(t, db, home, live); r.Damaged != 1 {
		t.Errorf("damaged: %+v", r)
	}
	if got := marks(); got != was {
		t.Errorf("%d marks after a damaged file, want %d as before", got, was)
	}
	m.write(t, home)
	importAll(t, db, home, live)
	if got := marks(); got != 0 {
		t.Errorf("%d marks after everything is back in %s", got, path)
	}
}

// TestPromptThatOnlyAHookSaw is a prompt that the user took back before the client wrote it.
func TestPromptThatOnlyAHookSaw(t *testing.T) {
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	entries := []memory.Outline{
		{ID: "start", Kind: memory.KindSessionStart, Time: at(0), Sources: memory.FromHook},
		{ID: "taken back", Kind: memory.KindPrompt, Time: at(1), Sources: memory.FromHook},
		{ID: "its call", Kind: memory.KindToolCall, Time: at(2), Sources: memory.FromHook},
		{ID: "h", Aliases: []string{"t"}, Kind: memory.KindPrompt, Time: at(10), Sources: memory.FromHook | memory.FromTranscript},
		{ID: "notice", Kind: memory.KindNotification, Time: at(11), Sources: memory.FromHook},
		{ID: "was said", Kind: memory.KindResponse, Time: at(12), Sources: memory.FromTranscript},
		{ID: "back again", Kind: memory.KindResponse, Time: at(13), Sources: memory.FromTranscript, Withdrawn: true},
		{ID: "just now", Kind: memory.KindPrompt, Time: at(99), Sources: memory.FromHook},
	}
	got := withdrawn(entries, map[string]bool{"t": true, "back again": true}, at(100))
	want := map[string]bool{"taken back": true, "its call": true, "was said": true, "back again": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

func TestDamagedTranscripts(t *testing.T) {
	good := makeSession(3, 100)
	for strings.HasPrefix(good.Lines[len(good.Lines)-1], `{"type":"hook.start"`) {
		good.Lines = good.Lines[:len(good.Lines)-1] // the last line is one that counts
	}
	whole := strings.Join(good.Lines, "\n") + "\n"
	prompt := slices.IndexFunc(good.Lines, func(l string) bool { return strings.HasPrefix(l, `{"type":"user.message"`) })
	with := func(change func(lines []string) []string) string {
		return strings.Join(change(slices.Clone(good.Lines)), "\n") + "\n"
	}
	for _, tt := range []struct {
		name, text string
		lost       int // entries
		damaged    bool
		problem    string // part of the first message
		line       int
	}{
		{"whole", whole, 0, false, "", 0},
		{"empty lines and CRLF", strings.ReplaceAll(whole, "\n", "\r\n\r\n"), 0, false, "", 0},
		{"no last newline", strings.TrimSuffix(whole, "\n"), 0, false, "", 0},
		{"half written", whole[:len(whole)-10], 1, true, "half written", len(good.Lines)},
		{"garbage in between", with(func(l []string) []string { return slices.Insert(l, 3, "\x00\xff garbage {") }), 0, true, "not a JSON", 4},
		{"a prompt is cut", with(func(l []string) []string { l[prompt] = l[prompt][:40]; return l }), 1, true, "not a JSON", prompt + 1},
		{"no type", with(func(l []string) []string { return slices.Insert(l, 2, `{"id":"x"}`) }), 0, true, "without a type", 3},
		{"data of another shape", with(func(l []string) []string {
			return append(l, `{"type":"assistant.message","id":"z1","timestamp":"2026-09-01T12:00:00Z","data":"text"}`)
		}), 0, true, "field", len(good.Lines) + 1},
		{"no beginning", with(func(l []string) []string { return l[1:] }), 1, false, "", 0},
		{"a later version", strings.Replace(whole, `"version":1`, `"version":7`, 1), 0, false, "format version 7", 1},
		{"a line that is too long", with(func(l []string) []string {
			return append(l, `{"type":"user.message","data":{"content":"`+strings.Repeat("x", maxLine)+`"}}`)
		}), 0, true, "longer than", len(good.Lines) + 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, db := t.TempDir(), newStore(t)
			path := good.write(t, home)
			writeFile(t, path, tt.text)
			r := importAll(t, db, home, nil)
			if r.Found != 1 || r.Imported != 1 || (r.Damaged == 1) != tt.damaged || r.Entries != len(good.Want)-tt.lost {
				t.Errorf("report %+v; want 1 session, damaged %t, %d entries", r, tt.damaged, len(good.Want)-tt.lost)
			}
			if tt.problem == "" {
				if len(r.Problems) > 0 {
					t.Errorf("problems: %+v", r.Problems)
				}
				return
			}
			if len(r.Problems) != 1 || r.Problems[0].Path != path || r.Problems[0].Line != tt.line || !strings.Contains(r.Problems[0].Message, tt.problem) {
				t.Errorf("problems: %+v; want one of %s:%d with %q", r.Problems, path, tt.line, tt.problem)
			}
			again := importAll(t, db, home, nil)
			if again.Entries != 0 || again.Unchanged != 1 || !cmp.Equal(again.Problems, r.Problems) || again.Damaged != r.Damaged {
				t.Errorf("second import: %+v", again)
			}
		})
	}
}

func TestNothingToRead(t *testing.T) {
	home, db := t.TempDir(), newStore(t)
	writeFile(t, filepath.Join(home, "session-state", "empty", "events.jsonl"), "")
	writeFile(t, filepath.Join(home, "session-state", "binary", "events.jsonl"), strings.Repeat("\xff\x00\n", 50))
	writeFile(t, filepath.Join(home, "session-state", "folder", "events.jsonl", "x"), "")
	writeFile(t, filepath.Join(home, "session-state", "none", "workspace.yaml"), "id: none\n")
	writeFile(t, filepath.Join(home, "session-state", "odd", "workspace.yaml"), "\t- : :\n{")
	writeFile(t, filepath.Join(home, "session-state", "odd", "events.jsonl"), makeSession(1, 10).Lines[0]+"\n")
	if err := os.Symlink(filepath.Join(home, "session-state", "odd", "events.jsonl"), filepath.Join(home, "session-state", "none", "events.jsonl")); err != nil {
		t.Fatal(err)
	}
	r := importAll(t, db, home, nil)
	if r.Found != 3 || r.Damaged != 1 || r.Imported < 1 {
		t.Errorf("report: %+v; want three files, one of them damaged", r)
	}
	if len(r.Problems) > maxProblems+2 {
		t.Errorf("%d problems are named: they must be bounded", len(r.Problems))
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("a1B2", 9)
	home, db := t.TempDir(), newStore(t)
	m := makeSession(2, 100)
	for i, l := range m.Lines {
		m.Lines[i] = strings.ReplaceAll(strings.ReplaceAll(l, "task", secret+" "), "make ", "export TOKEN="+secret+" make ")
		m.Lines[i] = strings.ReplaceAll(m.Lines[i], "clean", "clean <private>not for memory</private>")
	}
	if !strings.Contains(strings.Join(m.Lines, ""), secret) {
		t.Fatal("no secret was planted")
	}
	m.write(t, home)
	importAll(t, db, home, nil)
	all := dump(t, db)
	if strings.Contains(all, secret) || strings.Contains(all, "not for memory") {
		t.Error("a secret is in the store")
	}
	if c, err := db.Counts(t.Context()); err != nil || c.Redacted == 0 {
		t.Errorf("%d secrets counted, %v", c.Redacted, err)
	}
}

// TestPast takes from the client's own list what the files do not tell.
func TestPast(t *testing.T) {
	home, db := t.TempDir(), newStore(t)
	m := makeSession(4, 50)
	m.write(t, home)
	var prompt, answer string
	for _, f := range m.Want {
		switch f.Kind {
		case memory.KindPrompt:
			prompt = f.Text
		case memory.KindResponse:
			answer = f.Text
		}
	}
	later := start.Add(90 * time.Hour)
	list := []Past{
		{ID: m.ID, Cwd: "/home/dev/app", UpdatedAt: later, Turns: []PastTurn{{0, prompt, answer, later}, {1, "was taken back", "gone too", later}}},
		{ID: "pruned", Cwd: "/home/dev/app", Repository: "acme/app", Branch: "main", Title: "Pruned", CreatedAt: start, UpdatedAt: later,
			Turns: []PastTurn{{0, "from a folder that is gone", "an answer", later}, {1, "cut off", "", later}}},
		{ID: "nothing", UpdatedAt: later},
	}
	past := func(o *Options) {
		o.Past = func(each func(Past) error) error {
			for _, p := range list {
				if err := each(p); err != nil {
					return err
				}
			}
			return nil
		}
	}
	r := importAll(t, db, home, past)
	if r.Found != 2 || r.Imported != 2 || r.Entries != len(m.Want)+2+3 {
		t.Errorf("report: %+v; want 2 sessions and %d entries", r, len(m.Want)+5)
	}
	for _, f := range []struct {
		session, text string
		withdrawn     bool
	}{{m.ID, "was taken back", true}, {m.ID, "gone too", true}, {"pruned", "cut off", false}, {m.ID, prompt, false}} {
		entries, err := db.Entries(t.Context(), f.session)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range entries {
			if e.Text == f.text {
				n++
				if e.Withdrawn != f.withdrawn {
					t.Errorf("%q: withdrawn %t", f.text, e.Withdrawn)
				}
			}
		}
		if n != 1 {
			t.Errorf("%q is there %d times", f.text, n)
		}
	}
	s, err := db.Session(t.Context(), "pruned")
	if err != nil || s.Project != "github.com/acme/app" || s.Title != "Pruned" || s.Turns != 2 {
		t.Errorf("session %+v, %v", s, err)
	}
	if r := importAll(t, db, home, past); r.Entries != 0 || r.Unchanged != 2 {
		t.Errorf("second import: %+v", r)
	}
}

// TestCancelled stops in the middle; the next import goes on and everything is there.
func TestCancelled(t *testing.T) {
	home, db := t.TempDir(), newStore(t)
	want := 0
	for i := range 20 {
		m := makeSession(i, 100)
		m.write(t, home)
		want += len(m.Want)
	}
	files, _, err := Find(home, Copilot)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Files: files, Progress: func(done, total int64) {
		if done > total/2 {
			cancel()
		}
	}}
	if _, err := Run(ctx, db, o); err == nil {
		t.Fatal("a cancelled import ended without an error")
	}
	if r := importAll(t, db, home, nil); r.Unchanged < 5 || r.Unchanged == 20 {
		t.Errorf("after half of it: %+v", r)
	}
	if c, err := db.Counts(t.Context()); err != nil || c.Entries != want {
		t.Errorf("%d entries, %v; want %d", c.Entries, err, want)
	}
}
