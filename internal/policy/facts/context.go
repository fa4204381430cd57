package facts

import (
	"sync"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/hook"
	"github.com/copilot-mem/copilot-mem/internal/policy/expr"
)

// Context is the `event` context of expressions; members that cost something are expr.Lazy. Each call gives a new map:
// who knows which file a trigger matched puts that file's Value under "file".
func (f *Facts) Context() map[string]expr.Value {
	e := f.in.Event
	lifecycle := ""
	switch e.Name {
	case hook.PreToolUse:
		lifecycle = "pre"
	case hook.PostToolUse, hook.PostToolUseFailure:
		lifecycle = "post"
	}
	stamp := ""
	if !e.Time.IsZero() {
		stamp = e.Time.UTC().Format(time.RFC3339Nano)
	}
	ctx := map[string]expr.Value{
		"name": e.Name, "lifecycle": lifecycle, "cwd": f.cwd, "timestamp": stamp, "session_id": e.SessionID,
		"prompt": e.Prompt, "message": e.Message,
		"root":   lazy(func() any { return f.Root() }),
		"branch": lazy(func() any { return f.Branch() }),
		"error":  nil, "agent": nil, "tool": nil, "file": nil, "files": nil, "commit": nil, "push": nil, "shell": nil,
	}
	if e.Error != nil {
		ctx["error"] = map[string]any{"message": e.Error.Message, "name": e.Error.Name, "stack": e.Error.Stack, "context": e.ErrorContext}
	}
	if e.AgentID != "" || e.AgentName != "" || e.AgentType != "" {
		ctx["agent"] = map[string]any{"id": e.AgentID, "name": e.AgentName, "type": e.AgentType, "parent_id": e.ParentAgentID, "response": e.Response}
	}
	h := map[string]any{"type": e.Name, "cwd": f.cwd, "tool": nil}
	ctx["hook"] = h
	if f.tool == "" {
		return ctx
	}
	tool := map[string]any{
		"name": f.tool, "hook_type": e.Name,
		"args":   lazy(func() any { return f.Args() }),
		"result": map[string]any{"type": e.ResultType, "text": e.ResultText},
	}
	ctx["tool"], h["tool"] = tool, tool
	ctx["file"] = lazy(func() any { return f.defaultFile() })
	ctx["files"] = lazy(func() any {
		out := make([]any, 0, len(f.Files()))
		for _, file := range f.Files() {
			out = append(out, file.Value())
		}
		return out
	})
	ctx["commit"] = lazy(func() any {
		if c := f.Commits(); len(c) > 0 {
			return c[0].Value()
		}
		return nil
	})
	ctx["push"] = lazy(func() any {
		if p := f.Pushes(); len(p) > 0 {
			return p[0].Value()
		}
		return nil
	})
	ctx["shell"] = lazy(func() any {
		if s := f.Shell(); s != nil {
			return s.Value()
		}
		return nil
	})
	return ctx
}

// defaultFile is `event.file` where no file trigger chose one: the first file that is written, else the first.
func (f *Facts) defaultFile() any {
	files := f.Files()
	for _, file := range files {
		if file.Action != "read" {
			return file.Value()
		}
	}
	if len(files) > 0 {
		return files[0].Value()
	}
	return nil
}

func lazy(f func() any) expr.Lazy { return sync.OnceValue(f) }

// Value is the commit as expressions see it; asking git is left to the members that need it.
func (c *Commit) Value() map[string]any {
	return map[string]any{
		"amend": c.Amend, "all": c.All,
		"message": lazy(func() any { return c.Message() }),
		"author":  lazy(func() any { return c.Author() }),
		"branch":  lazy(func() any { name, _ := c.Branch(); return name }),
		"files": lazy(func() any {
			files, _ := c.Files()
			out := make([]any, 0, len(files))
			for _, f := range files {
				out = append(out, map[string]any{"path": f.Path, "status": f.Status, "old": f.Old})
			}
			return out
		}),
		"files_known": lazy(func() any { _, known := c.Files(); return known }),
	}
}

// Value is the push as expressions see it.
func (p *Push) Value() map[string]any {
	return map[string]any{
		"remote": p.Remote, "ref": p.Ref, "refs": texts(p.Refs), "force": p.Force, "lease": p.Lease, "delete": p.Delete,
		"tags": p.Tags, "mirror": p.Mirror,
		"files":       lazy(func() any { files, _ := p.Files(); return texts(files) }),
		"files_known": lazy(func() any { _, known := p.Files(); return known }),
	}
}

// Value is the shell text as expressions see it.
func (s *Shell) Value() map[string]any {
	commands := make([]any, 0, len(s.Commands))
	for _, c := range s.Commands {
		commands = append(commands, map[string]any{"name": c.Name, "args": texts(c.Args), "raw": c.Raw})
	}
	return map[string]any{"opaque": s.Opaque, "commands": commands}
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
