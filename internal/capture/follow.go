package capture

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

// inHook is how much of a transcript one prompt may wait for; the rest is read at the next stop.
const inHook = 256 << 10

// follow takes up what hooks do not carry. The last message reaches the transcript only while the stop hook runs or
// after it (client 1.0.102), so a stop leaves a reader behind; the next prompt reads what that one did not live to see.
func follow(o Options, t top, session string) {
	owner := t.owner(session)
	switch eventKind(o.Event) {
	case kindStop, kindEnd:
		path := t.transcript
		if trusted(path) {
			remember(o.Dir, owner, path)
		} else if path = remembered(o.Dir, owner); path == "" {
			return
		}
		if o.Exe == "" {
			return
		}
		args := append(append([]string{}, o.ReaderArgs...), "--read-transcript", path, owner)
		// COPILOT_MEM_DISABLE ends any chain of hooks below the reader.
		env := []string{"COPILOT_MEM_HOME=" + string(o.Dir), "COPILOT_MEM_DISABLE=1", "SystemRoot=" + o.Getenv("SystemRoot")}
		env = sinkEnv(env, o.Getenv)
		if err := detach(o.Exe, args, env, string(o.Dir)); err != nil {
			note(o, "transcript reader: "+problem(err))
		}
	case kindPrompt:
		if path := remembered(o.Dir, owner); path != "" {
			r := reader{dir: o.Dir, path: path, session: owner, now: o.Now, forwarded: forwards(o.Getenv)}
			if _, err := r.readNew(inHook); err != nil {
				note(o, "transcript: "+problem(err))
			}
		}
	}
}

// owner is the session whose transcript an event names. Events of sub-agents carry the agent's id as the session, but
// name their root session's transcript, and its folder has the session's id for a name.
func (t top) owner(session string) string {
	if t.agent == "" {
		return session
	}
	if filepath.Base(t.transcript) == "events.jsonl" {
		return filepath.Base(filepath.Dir(t.transcript))
	}
	if t.parentAgent != "" {
		return t.parentAgent
	}
	return session
}

// trusted says whether a path that a payload names may be read: a transcript, or a place where one may appear.
func trusted(path string) bool {
	if !filepath.IsAbs(path) || !strings.HasSuffix(path, ".jsonl") || strings.ContainsRune(path, 0) {
		return false
	}
	info, err := os.Lstat(path)
	return os.IsNotExist(err) || err == nil && info.Mode().IsRegular()
}

const transcriptPrefix = "transcript-"

// remember keeps where a session's transcript is, for the events that do not say so.
func remember(dir datadir.Dir, session, path string) {
	state, err := stateDir(dir)
	if err != nil || remembered(dir, session) == path {
		return
	}
	// Without it the next prompt reads nothing in advance, and the next stop names the path again.
	_ = writeState(pathFile(state, session), []byte(path))
}

func remembered(dir datadir.Dir, session string) string {
	if session == "" {
		return ""
	}
	path := string(readState(pathFile(dir.State(), session)))
	if path == "" || !trusted(path) {
		return ""
	}
	return path
}

func pathFile(state, session string) string {
	return filepath.Join(state, stateName(transcriptPrefix, session)+".path")
}
