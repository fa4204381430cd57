package validate

import (
	"fmt"
	"path"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// hiddenCommand: a skill of the same name wins.
func (c *checker) hiddenCommand(r *report, doc *plugin.Document, file string) {
	name := plugin.SkillName(doc.Fields.Get("name").Str())
	if name == "" {
		name = plugin.SkillName(strings.TrimSuffix(path.Base(file), path.Ext(file)))
	}
	if first, ok := c.skills[name]; ok {
		r.warn(nil, "command/hidden", fmt.Sprintf("the skill %s has the name %q too, and hides this command", first, name), "rename one of them")
	}
}

// command checks a slash command: a markdown file whose frontmatter may be absent, else that of a skill.
func (c *checker) command(file string) {
	r := c.open(file)
	data, ok := r.read("command/unreadable")
	if !ok {
		return
	}
	if len(data) > plugin.MaxFileSize {
		r.refuse(nil, "command/file-size", tooLarge, "keep the command short")
		return
	}
	doc, err := plugin.ParseCommand(data)
	if err != nil || doc.Fields.Is(plugin.Map) { // without frontmatter nothing is ours to change
		r.fixFrontmatter()
	}
	if !r.parsed("command", "", err) {
		return
	}
	k := invocable{r: r, kind: "command", noun: "Command"}
	c.hiddenCommand(r, doc, file)
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	if v := doc.Fields.Get("name"); v != nil {
		k.name(v, stem)
	} else if !skillName.MatchString(plugin.SkillName(stem)) || len(stem) > maxName {
		r.warn(nil, "command/file-name", fmt.Sprintf("never offered: %q is no name for a command", stem), fmt.Sprintf("rename the file to %s.md", slug(stem)))
	}
	if v := doc.Fields.Get("description"); v != nil {
		k.description(v)
	}
	k.common(doc.Fields)
	r.comment("command", doc.Fields, "description")
}
