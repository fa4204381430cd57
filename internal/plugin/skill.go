package plugin

import (
	"path"
	"strings"
	"unicode"
)

// MaxFileSize is the largest skill or agent file the client reads, in bytes.
const MaxFileSize = 1 << 20

// Skill is one SKILL.md. Err says why it does not parse; then only Path is sure.
type Skill struct {
	Path        string
	Name        string // as the client shows it: trimmed, blanks to `-`, else the folder's name
	Description string
	Doc         *Document
	Err         error
}

// ParseSkill reads a SKILL.md; file is its path, folder the name of the folder it lies in.
func ParseSkill(file, folder string, data []byte) Skill {
	doc, err := ParseDocument(data)
	s := Skill{Path: file, Doc: doc, Err: err, Name: folder}
	if err != nil {
		return s
	}
	if name := SkillName(doc.Fields.Get("name").Str()); name != "" {
		s.Name = name
	}
	s.Description = doc.Fields.Get("description").Str()
	return s
}

// TrimName takes off what the client takes for blanks around a name: those of JavaScript, where U+FEFF is one and
// U+0085 is none.
func TrimName(written string) string {
	return strings.TrimFunc(written, func(r rune) bool { return r == '\uFEFF' || r != '\u0085' && unicode.IsSpace(r) })
}

// SkillName is a written name as the client keeps it: trimmed, each run of spaces one `-`.
func SkillName(written string) string {
	var parts []string
	for p := range strings.SplitSeq(TrimName(written), " ") {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "-")
}

// Agent is one custom agent file. Err says why it does not parse.
type Agent struct {
	Path        string
	ID          string // the path below the agents folder, `/` as `--`, without .agent.md or .md
	Name        string // the display name, else ID
	Description string
	Doc         *Document
	Err         error
}

// ParseAgent reads an agent file; file is its path below the agents folder.
func ParseAgent(file string, data []byte) Agent {
	doc, err := ParseDocument(data)
	a := Agent{Path: file, ID: AgentID(file), Doc: doc, Err: err}
	a.Name = a.ID
	if err != nil {
		return a
	}
	if n := doc.Fields.Get("name").Str(); n != "" {
		a.Name = n
	}
	a.Description = doc.Fields.Get("description").Str()
	return a
}

// AgentID is what `copilot --agent` takes for the file at that path below an agents folder.
func AgentID(file string) string {
	id := strings.TrimSuffix(strings.TrimSuffix(file, ".md"), ".agent")
	return strings.ReplaceAll(id, "/", "--")
}

// IsAgentFile reports whether the client reads a file of that name as an agent.
func IsAgentFile(file string) bool {
	base := path.Base(file)
	return strings.HasSuffix(base, ".md") && !strings.HasPrefix(base, ".")
}
