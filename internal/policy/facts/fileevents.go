package facts

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/hook"
)

// Argument names of file tools, in the order in which they are tried.
var (
	pathArgs    = []string{"path", "file_path", "filePath", "filename", "file", "notebook_path", "target_file"}
	targetArgs  = []string{"destination", "new_path"}
	sourceArgs  = []string{"source", "old_path", "from", "src"}
	contentArgs = []string{"file_text", "content", "new_str", "new_string", "text"}
	oldArgs     = []string{"old_str", "old_string"}
)

// toolActions says what the file tools do; "move" has two ends.
var toolActions = map[string]string{
	"create": "create", "write_file": "create", "create_file": "create",
	"edit": "edit", "str_replace": "edit", "insert": "edit", "edit_file": "edit", "multi_edit": "edit",
	"delete_file": "delete", "move_file": "move", "rename_file": "move",
	"view": "read", "read_file": "read",
}

// suffixes name the tools of servers ("files-write_file") by what follows the prefix.
var suffixes = []string{"write_file", "create_file", "edit_file", "delete_file", "move_file", "rename_file", "read_file"}

// editorCommands are what an editor-like tool takes as its command.
var editorCommands = map[string]string{"create": "create", "str_replace": "edit", "insert": "edit", "undo_edit": "edit", "view": "read"}

func (f *Facts) isPost() bool { return f.in.Event.Name == hook.PostToolUse }

func (f *Facts) newFile(abs, action string) File {
	return f.fileAt(abs, f.disk.realPath(abs), action)
}

func (f *Facts) fileAt(abs, real, action string) File {
	file := File{Abs: abs, Real: real, Action: action}
	file.Candidates, file.Path = f.forms(abs, real)
	return file
}

// filesIn are the events of the files below a directory; below it no link is followed, so their real paths follow from its.
func (f *Facts) filesIn(dir File, action string) []File {
	var out []File
	for _, p := range filesBelow(dir.Abs) {
		rel, ok := below(p, dir.Abs)
		if !ok {
			continue
		}
		file := f.fileAt(p, filepath.Join(dir.Real, rel), action)
		file.Below = true
		out = append(out, file)
	}
	return out
}

func (f *Facts) findFiles() []File {
	if f.tool == "" {
		return nil
	}
	if w := f.walk(); w != nil {
		return w.files
	}
	args := f.args()
	if patchTool(f.tool) {
		return f.patchEvents(patchText(args))
	}
	if text, ok := args["input"].(string); ok && len(args) == 1 && looksLikePatch(text) {
		return f.patchEvents(text)
	}
	action, names, content := f.actionOf()
	switch {
	case action == "":
		return nil
	case f.tool == "grep" || f.tool == "view" && len(textsOf(args, "paths")) > 0:
		return f.readPaths(args)
	case action == "move":
		return f.moveEvents(args)
	case action == "delete":
		return f.deleteEvents(args, names)
	}
	return f.contentEvents(args, action, names, content)
}

// actionOf is what the tool does, and the names of its arguments for the path and the content.
func (f *Facts) actionOf() (action string, names, content []string) {
	names, content = pathArgs, contentArgs
	if action = toolActions[f.tool]; action != "" {
		return action, names, content
	}
	if f.tool == "grep" {
		return "read", names, content
	}
	if command, ok := f.args()["command"].(string); ok {
		if _, has := firstText(f.args(), pathArgs...); has && editorTool(f.tool) {
			return editorCommands[command], names, content
		}
	}
	// The settings' map comes before the suffixes, but never takes a name that is known from this table.
	if tool, ok := f.mapped(); ok {
		if tool.Path != "" {
			names = append([]string{tool.Path}, names...)
		}
		if tool.Content != "" {
			content = append([]string{tool.Content}, content...)
		}
		action = tool.Action
		if action == "rename" {
			action = "move"
		}
		return action, names, content
	}
	for _, suffix := range suffixes {
		if prefix, ok := strings.CutSuffix(f.tool, suffix); ok && prefix != "" && strings.ContainsAny(prefix[len(prefix)-1:], "-_/.:") {
			return toolActions[suffix], names, content
		}
	}
	return "", nil, nil
}

// editorTool reports a tool that is one editor with several commands.
func editorTool(name string) bool {
	return strings.Contains(name, "edit") || strings.Contains(name, "str_replace")
}

// mapped finds the tool in the settings' map: by its name, else by the first glob in order.
func (f *Facts) mapped() (FileTool, bool) {
	if tool, ok := f.in.FileTools[f.tool]; ok {
		return tool, true
	}
	for _, name := range slices.Sorted(maps.Keys(f.in.FileTools)) {
		if matchSegment(strings.NewReplacer("[", `\[`, `\`, `\\`).Replace(name), f.tool) {
			return f.in.FileTools[name], true
		}
	}
	return FileTool{}, false
}

// textsOf are the texts of an argument that is a text or a list of texts.
func textsOf(args map[string]any, name string) []string {
	switch v := args[name].(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok && s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

func (f *Facts) readPaths(args map[string]any) []File {
	var out []File
	for _, name := range append([]string{"paths"}, pathArgs...) {
		for _, p := range textsOf(args, name) {
			out = append(out, f.newFile(f.absolute(p), "read"))
		}
	}
	return out
}

func (f *Facts) contentEvents(args map[string]any, action string, names, content []string) []File {
	p, ok := firstText(args, names...)
	if !ok {
		return nil
	}
	file := f.newFile(f.absolute(p), action)
	if action == "read" {
		return []File{file}
	}
	file.Content, file.HasContent = firstText(args, content...)
	file.Old, _ = firstText(args, oldArgs...)
	for _, e := range listOf(args, "edits") {
		add, _ := firstText(e, contentArgs...)
		old, _ := firstText(e, append(oldArgs, "oldText")...)
		if add == "" {
			add, _ = firstText(e, "newText")
		}
		file.Content, file.Old, file.HasContent = joinLines(file.Content, add), joinLines(file.Old, old), true
	}
	return []File{file}
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

func listOf(args map[string]any, name string) []map[string]any {
	list, _ := args[name].([]any)
	var out []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (f *Facts) deleteEvents(args map[string]any, names []string) []File {
	p, ok := firstText(args, names...)
	if !ok {
		return nil
	}
	abs := f.absolute(p)
	file := f.newFile(abs, "delete")
	file.Dir = isRealDir(abs)
	out := []File{file}
	if file.Dir {
		out = append(out, f.filesIn(file, "delete")...)
	}
	return out
}

// moveEvents are the two ends of a rename, with what lies below a directory.
func (f *Facts) moveEvents(args map[string]any) []File {
	w := newWalk(f)
	if p, ok := firstText(args, slices.Concat(sourceArgs, pathArgs)...); ok {
		src := f.absolute(p)
		w.renamed(src, "delete")
		if to, ok := firstText(args, append(slices.Clone(targetArgs), "new_name", "to", "target", "dest")...); ok {
			if !strings.ContainsAny(to, `/\`) && args["new_name"] == to {
				to = path.Join(path.Dir(strings.ReplaceAll(p, `\`, "/")), to)
			}
			w.arrives(src, f.absolute(to), true)
		}
	}
	return w.files
}

func (f *Facts) patchEvents(text string) []File {
	var out []File
	for _, p := range parsePatch(text) {
		out = append(out, f.patchFiles(p, f.absolute(p.path), f.absolute)...)
	}
	return out
}

// patchFiles are the events of one file of a patch; where turns the new name of a rename into a path.
func (f *Facts) patchFiles(p patched, abs string, where func(string) string) []File {
	file := f.newFile(abs, p.action)
	switch p.action {
	case "create", "edit":
		file.Content, file.Old, file.HasContent = p.added, p.removed, true
	case "rename":
		file.Also, file.Old = []string{"delete"}, p.removed
		to := f.newFile(where(p.to), "rename")
		to.Also, to.Content, to.HasContent = []string{"create"}, p.added, p.added != ""
		if p.added != "" || p.removed != "" {
			file.Also = append(file.Also, "edit")
			to.Also = append(to.Also, "edit")
		}
		return []File{file, to}
	}
	return []File{file}
}
