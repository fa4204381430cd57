package history

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCount(t *testing.T) {
	lines := `{"type":"session.start","data":{},"id":"1"}
{"type":"hook.start","data":{"hookType":"sessionStart"},"id":"2"}
{"type":"hook.end","data":{"hookType":"sessionStart","success":false},"id":"3"}
{"type":"user.message","data":{"content":"hello"},"id":"4"}
{"type":"user.message","data":{"content":"by itself","source":"system"},"id":"5"}
{"type":"user.message","data":{"content":"for an agent"},"id":"6","agentId":"a"}
{"type":"assistant.message","data":{"content":"","toolRequests":[{}]},"id":"7"}
{"type":"assistant.message","data":{"content":"an answer"},"id":"8"}
{"type":"assistant.message","data":{"content":"of an agent","parentToolCallId":"c"},"id":"9"}
{"type":"tool.execution_complete","data":{"success":false},"id":"10"}
not JSON
{ "type": "tool.execution_complete", "data": {"success": true}, "id": "11"}
{"type":"model.messages_snapshot","data":{"content":"all of it again"},"id":"12"}
`
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Count(path)
	want := Tally{Prompts: 1, Answers: 1, Results: 2, Hooks: map[string]int{"sessionStart": 1}, Failed: map[string]int{"sessionStart": 1}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || got.Events() != 4 {
		t.Errorf("Count (-want +got), %v:\n%s", err, diff)
	}
	if _, err := Count(path + "x"); err == nil {
		t.Error("a file that is not there was counted")
	}
}

func FuzzCount(f *testing.F) {
	f.Add([]byte(`{"type":"user.message","data":{"content":"x"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		tally := Tally{Hooks: map[string]int{}, Failed: map[string]int{}}
		tally.line(line)
		if n := tally.Events(); n < 0 || n > 1 {
			t.Errorf("one line made %d events", n)
		}
	})
}
