package validate

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

var (
	skillName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:\- ]*$`)
	portableName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	spaces       = regexp.MustCompile(` {2,}|[^ ] [^ ]`)
)

const (
	tooLarge       = "failed to read file: EFBIG: file too large"
	maxName        = 64
	maxDescription = 1024
)

// Fields that the client, or the Agent Skills text, gives a meaning.
var skillFields = map[string]bool{
	"name": true, "description": true, "allowed-tools": true, "argument-hint": true, "user-invocable": true,
	"disable-model-invocation": true, "license": true, "metadata": true, "compatibility": true,
}

// Keys that people write for one of ours.
var fieldTwins = map[string]string{
	"allowedTools": "allowed-tools", "allowed_tools": "allowed-tools", "tools": "allowed-tools",
	"argumentHint": "argument-hint", "argument_hint": "argument-hint",
	"userInvocable": "user-invocable", "user-invokable": "user-invocable", "user_invocable": "user-invocable",
	"disableModelInvocation": "disable-model-invocation", "disable_model_invocation": "disable-model-invocation",
	"models": "model", "modelPolicy": "model-policy", "reasoningEffort": "reasoning-effort", "effort": "reasoning-effort",
	"mcpServers": "mcp-servers", "mcp_servers": "mcp-servers", "includeCustomInstructions": "include-custom-instructions",
	"deferredToolLoading": "deferred-tool-loading",
}

// skill checks one SKILL.md; folder is the name of the folder it lies in.
func (c *checker) skill(file, folder string) { c.settle(c.readSkill(file, folder)) }

// checked is one skill by itself.
type checked struct {
	alone  *checker
	report *report
	skill  plugin.Skill
	ok     bool // the client loads it
}

// readSkill checks what does not depend on other skills, and touches nothing that they touch.
func (c *checker) readSkill(file, folder string) checked {
	alone := &checker{fsys: c.fsys, name: c.name, prefix: c.prefix, options: c.options, whole: c.whole}
	done := checked{alone: alone, report: alone.open(file)}
	if !done.read(folder) {
		return done
	}
	done.ok = !slices.ContainsFunc(alone.findings, func(f Finding) bool { return f.Severity == Error && f.Voice == Copilot })
	done.report.references(path.Dir(file), done.skill.Doc.Body)
	alone.executables(path.Join(path.Dir(file), "scripts"), false)
	done.report.data = nil
	return done
}

// settle takes over what was found, and compares the skill with those before it.
func (c *checker) settle(done checked) {
	c.findings = append(c.findings, done.alone.findings...)
	for file := range done.alone.files {
		c.open(file)
	}
	for file, f := range done.alone.fixes {
		c.fix(file, func(to *Fix) { *to = f })
	}
	done.report.c = c
	if done.ok && c.duplicateSkill(done.report, done.skill.Doc.Fields.Get("name"), done.skill.Name) {
		c.list(done.report, done.skill)
	}
}

// settleAll checks skills on all processors, and settles them in their order.
func (c *checker) settleAll(skills []skillFile) {
	done := make([]checked, len(skills))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(skills)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(skills)); i = next.Add(1) - 1 {
				done[i] = c.readSkill(skills[i].file, skills[i].folder)
			}
		})
	}
	wg.Wait()
	for _, d := range done {
		c.settle(d)
	}
}

// read parses the file and checks its fields; it reports whether there are any.
func (d *checked) read(folder string) bool {
	r := d.report
	data, ok := r.read("skill/unreadable")
	if !ok {
		return false
	}
	if len(data) > plugin.MaxFileSize {
		r.refuse(nil, "skill/file-size", tooLarge, "keep SKILL.md below 1 MiB: move text to files beside it")
		return false
	}
	r.fixFrontmatter()
	s := plugin.ParseSkill(r.file, folder, data)
	d.skill = s
	if s.Doc.BadUTF8 {
		r.warn(nil, "skill/utf8", "bytes that are not UTF-8 are replaced by U+FFFD", "save the file as UTF-8")
	}
	if !r.parsed("skill", "", s.Err) {
		return false
	}
	if s.Doc.BOM {
		r.spec(nil, "skill/bom", "the file begins with a byte order mark", "save the file as UTF-8 without a byte order mark")
	}
	f := s.Doc.Fields
	k := invocable{r: r, kind: "skill", noun: "Skill"}
	r.skillName(k, f, folder)
	r.skillDescription(k, f)
	k.common(f)
	if v := f.Get("user-invocable"); v != nil && v.Kind != plugin.Bool {
		r.refuse(v, "skill/boolean-type", "user-invocable must be a boolean", "write `true` or `false` without quotes")
	}
	r.skillSpecFields(f)
	r.unknownKeys("skill", f, skillFields)
	return true
}

// invocable checks what skills and slash commands have in common, in the client's words for the one or the other.
type invocable struct {
	r    *report
	kind string // begins the rules
	noun string // begins the messages
}

// name returns the name as the client keeps it; ok is false where it refuses it. folder is for the hint.
func (k invocable) name(v *plugin.Value, folder string) (name string, ok bool) {
	if v.Kind != plugin.String {
		k.r.refuse(v, k.kind+"/name-type", k.noun+" name must be a string", quoteHint(v))
		return "", false
	}
	name = plugin.SkillName(v.Text)
	switch {
	case name == "":
		k.r.refuse(v, k.kind+"/name-empty", k.noun+" name must not be empty", fmt.Sprintf("write `name: %s`", folder))
	case !skillName.MatchString(name):
		k.r.refuse(v, k.kind+"/name-charset", k.noun+" name must start with an ASCII letter or number and contain only ASCII letters "+
			"(a-z, A-Z), numbers, hyphens, underscores, dots, colons, and spaces", fmt.Sprintf("write `name: %s`", slug(v.Text)))
	case len(name) > maxName:
		k.r.refuse(v, k.kind+"/name-length", k.noun+" name must be at most 64 characters", "shorten the name")
	default:
		return name, true
	}
	return "", false
}

// description reports whether the client takes it.
func (k invocable) description(v *plugin.Value) bool {
	if v.Kind != plugin.String {
		k.r.refuse(v, k.kind+"/description-type", k.noun+" description must be a string", quoteHint(v))
		return false
	}
	if n := len(utf16.Encode([]rune(v.Text))); n > maxDescription {
		k.r.refuse(v, k.kind+"/description-length", k.noun+" description must be at most 1024 characters", fmt.Sprintf("cut %d characters", n-maxDescription))
		return false
	}
	return true
}

// common checks the other fields that both have.
func (k invocable) common(f *plugin.Value) {
	k.r.allowedTools(k.kind, f.Get("allowed-tools"))
	if h := f.Get("argument-hint"); h != nil && h.Kind != plugin.String && h.Kind != plugin.Null {
		k.r.refuse(h, k.kind+"/argument-hint-type", "argument-hint must be a string", quoteHint(h))
	}
	if v := f.Get("disable-model-invocation"); v != nil && v.Kind != plugin.Bool {
		k.r.refuse(v, k.kind+"/boolean-type", "disable-model-invocation must be a boolean", "write `true` or `false` without quotes")
	}
}

// parsed reports a document that does not parse, in the client's words.
func (r *report) parsed(kind, before string, err error) bool {
	var frame *plugin.FrameError
	var syntax *plugin.SyntaxError
	switch {
	case errors.As(err, &frame):
		r.refuseAt(frame.Line, 1, kind+"/frontmatter", before+frame.Error(), frame.Advice)
	case errors.As(err, &syntax):
		r.refuseAt(syntax.Line, syntax.Column, kind+"/yaml", before+"failed to parse YAML frontmatter: "+syntax.Problem, syntax.Advice)
	case err != nil:
		r.refuse(nil, kind+"/unreadable", before+err.Error(), "")
	}
	return err == nil
}

func (r *report) skillName(k invocable, f *plugin.Value, folder string) {
	v := f.Get("name")
	if v == nil {
		if !skillName.MatchString(plugin.SkillName(folder)) || len(folder) > maxName {
			r.refuse(f, "skill/name-derived", "could not derive a valid skill name from the folder path", "write a `name:`")
			return
		}
		r.spec(f, "skill/name-missing", "no name: the folder's name is taken", fmt.Sprintf("write `name: %s`", folder))
		return
	}
	name, ok := k.name(v, folder)
	switch {
	case !ok:
	case spaces.MatchString(strings.TrimSpace(v.Text)):
		r.warn(v, "skill/name-spaces", fmt.Sprintf("the client calls this skill %q", name), fmt.Sprintf("write `name: %s`", slug(v.Text)))
	case !portableName.MatchString(name):
		r.spec(v, "skill/name-portable", "Agent Skills allows lowercase letters, digits and single hyphens only", fmt.Sprintf("write `name: %s`", slug(v.Text)))
	case name != folder:
		r.spec(v, "skill/name-directory", fmt.Sprintf("Agent Skills wants the name of the folder, %q", folder), "rename the folder or the skill")
	}
}

func (r *report) skillDescription(k invocable, f *plugin.Value) {
	switch v := f.Get("description"); {
	case v == nil:
		r.spec(f, "skill/description-missing", "no description: the beginning of the text is taken", "say in `description:` what the skill does and when to use it")
	case k.description(v) && strings.TrimSpace(v.Text) == "":
		r.spec(v, "skill/description-empty", "the description is empty: nothing tells the model when to use the skill", "say what the skill does and when to use it")
	}
	r.comment("skill", f, "description")
	r.comment("skill", f, "name")
}

// comment warns of ` #` in an unquoted value: what follows is gone. The parsed value does not show it.
func (r *report) comment(kind string, f *plugin.Value, name string) {
	v := f.Get(name)
	if v == nil || !v.Plain || v.Kind != plugin.String {
		return
	}
	if at := commentAt(string(r.data), v); at > 0 {
		r.add(Warning, v.Line, at, kind+"/comment-in-value", name+" ends before ` #`: the rest of the line is a comment", "put the whole value in double quotes")
	}
}

// commentAt is the column of the `#` that ends an unquoted value on its line; 0 where there is none.
func commentAt(text string, v *plugin.Value) int {
	lines := strings.Split(text, "\n")
	if v.Line > len(lines) {
		return 0
	}
	line := []rune(strings.TrimPrefix(lines[v.Line-1], bom))
	if v.Column > len(line) {
		return 0
	}
	rest := string(line[v.Column-1:])
	i := strings.Index(rest, " #")
	if i < 0 || !strings.HasPrefix(v.Text, strings.TrimSpace(rest[:i])) || strings.Contains(v.Text, " #") {
		return 0
	}
	return v.Column + len([]rune(rest[:i])) + 1
}

func (r *report) allowedTools(kind string, v *plugin.Value) {
	switch {
	case v == nil:
	case v.Kind == plugin.List:
		for _, item := range v.Items {
			if item.Kind != plugin.String {
				r.refuse(item, kind+"/allowed-tools-type", "allowed-tools must contain only strings", quoteHint(item))
				return
			}
			if spaceSeparated(item.Text) {
				r.warn(item, kind+"/allowed-tools-spaces", fmt.Sprintf("read as the one rule %q: the client splits at commas only", item.Text), "give each rule its own item")
			}
		}
	case v.Kind != plugin.String:
		r.refuse(v, kind+"/allowed-tools-type", "allowed-tools must be a string or array of strings", "write a list of tool names")
	case spaceSeparated(v.Text):
		r.warn(v, kind+"/allowed-tools-spaces", fmt.Sprintf("read as the one rule %q: the client splits at commas only", v.Text),
			fmt.Sprintf("write %q", commaSeparated(v.Text)))
	}
}

// toolWords splits a list of rules at commas, then at blanks, both outside parentheses.
func toolWords(s string) (parts [][]string) {
	depth, start := 0, -1
	parts = [][]string{nil}
	end := func(i int) {
		if start >= 0 {
			parts[len(parts)-1] = append(parts[len(parts)-1], s[start:i])
		}
		start = -1
	}
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
		switch {
		case depth <= 0 && c == ',':
			end(i)
			parts = append(parts, nil)
		case depth <= 0 && (c == ' ' || c == '\t' || c == '\n'):
			end(i)
		case start < 0:
			start = i
		}
	}
	end(len(s))
	return parts
}

// spaceSeparated looks for a blank outside parentheses within one comma-separated part.
func spaceSeparated(s string) bool {
	return slices.ContainsFunc(toolWords(s), func(words []string) bool { return len(words) > 1 })
}

// commaSeparated writes the same rules as the client wants them.
func commaSeparated(s string) string { return strings.Join(slices.Concat(toolWords(s)...), ", ") }

// skillSpecFields: the client never looks at these, the Agent Skills text does.
func (r *report) skillSpecFields(f *plugin.Value) {
	for _, name := range []string{"license", "compatibility"} {
		if v := f.Get(name); v != nil && v.Kind != plugin.String {
			r.spec(v, "skill/"+name+"-type", name+" should be a string", quoteHint(v))
		}
	}
	if v := f.Get("compatibility"); v.Is(plugin.String) && len([]rune(v.Text)) > 500 {
		r.spec(v, "skill/compatibility-length", "compatibility should have at most 500 characters", "shorten it")
	}
	m := f.Get("metadata")
	if m != nil && m.Kind != plugin.Map {
		r.spec(m, "skill/metadata-type", "metadata should be a map of strings", "write one `key: \"value\"` a line below it")
	}
	if m.Is(plugin.Map) {
		for _, e := range m.Fields {
			if e.Value.Kind != plugin.String {
				r.spec(e.Value, "skill/metadata-type", "metadata."+e.Name+" should be a string", quoteHint(e.Value))
			}
		}
	}
}

func (r *report) unknownKeys(kind string, f *plugin.Value, known map[string]bool) {
	if !f.Is(plugin.Map) {
		return
	}
	for _, e := range f.Fields {
		if known[e.Name] && e.Key.Kind == plugin.String {
			continue
		}
		hint := "remove it, or move it below `metadata:`"
		if kind == "agent" {
			hint = "remove it"
		}
		if twin := fieldTwins[e.Name]; twin != "" && known[twin] {
			hint = fmt.Sprintf("write `%s`", twin)
		} else if lower := strings.ToLower(e.Name); lower != e.Name && known[lower] {
			hint = fmt.Sprintf("write `%s`", lower)
		}
		if e.Name == "<<" {
			r.warn(e.Key, kind+"/merge-key", "merge keys are not applied", "write the fields out")
			continue
		}
		r.warn(e.Key, kind+"/unknown-field", "unknown field ignored: "+e.Name, hint)
	}
}

// duplicateSkill: of two skills with one name the client loads the first and says nothing.
// It reports whether this is the first.
func (c *checker) duplicateSkill(r *report, v *plugin.Value, name string) bool {
	if c.skills == nil {
		return false
	}
	if first, ok := c.skills[name]; ok && first != r.file {
		r.warn(v, "skill/duplicate-name", fmt.Sprintf("%s has the name %q too, and hides this one", first, name), "give each skill its own name")
		return false
	}
	c.skills[name] = r.file
	return true
}

// skillTree checks the skills below root as the client finds them: a folder with SKILL.md is a leaf, folders that
// begin with a dot are passed over, and the file's name is exact. Silent in the client, so warnings here.
func (c *checker) skillTree(root string) {
	var skills []skillFile
	c.skillDir(root, c.base(root), nil, &skills)
	c.settleAll(skills)
}

// base is the name of a folder, also where it is the root of fsys.
func (c *checker) base(dir string) string {
	if dir == "." {
		return c.name
	}
	return path.Base(dir)
}

func quoteHint(v *plugin.Value) string {
	switch v.Kind {
	case plugin.Null:
		return "write a text, or remove the field"
	case plugin.List, plugin.Map:
		return "write one text in double quotes"
	}
	return fmt.Sprintf("write %q in quotes", v.Text)
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slug(s string) string {
	s = strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
	return strings.TrimRight(s[:min(len(s), maxName)], "-")
}
