package script

import "strings"

// powerShell rewrites a script for PowerShell, whose words are not split again: an expression outside of quotes becomes
// a string of its own, and a '…' that holds one is written as the "…" that means the same.
func powerShell(m markText, holes []hole) (string, error) {
	p := pwsh{src: m.text, mark: m.mark, holes: holes}
	if err := p.code(0); err != nil {
		return "", err
	}
	return p.out.String(), nil
}

// pwsh reads the marked text once, from left to right.
type pwsh struct {
	src, mark string
	holes     []hole
	pos       int
	hole      int // the next one
	out       strings.Builder
}

func (p *pwsh) at(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }

// copy writes the next n bytes as they are.
func (p *pwsh) copy(n int) {
	p.out.WriteString(p.src[p.pos : p.pos+n])
	p.pos += n
}

// take passes over one hole and gives the reference to it.
func (p *pwsh) take() string {
	end := strings.Index(p.src[p.pos+len(p.mark):], p.mark)
	p.pos += len(p.mark) + end + len(p.mark)
	p.hole++
	return "${env:" + p.holes[p.hole-1].name + "}"
}

func (p *pwsh) refuse(why string) error { return &Error{p.holes[p.hole].offset, why} }

const maxNested = 200

// code reads statements up to the end, or to the parenthesis that closes a $( ).
func (p *pwsh) code(depth int) error {
	if depth > maxNested {
		return &Error{p.holes[0].offset, "the script is nested too deeply"}
	}
	parens := 0
	for p.pos < len(p.src) {
		switch {
		case p.at(p.mark):
			if err := p.word(); err != nil {
				return err
			}
		case p.at("`"):
			if p.src[p.pos+1:] != "" && strings.HasPrefix(p.src[p.pos+1:], p.mark) {
				return p.refuse("an expression cannot follow a backtick")
			}
			p.copy(min(2, len(p.src)-p.pos))
		case p.at("<#"):
			p.comment("#>")
		case p.at("#"):
			p.comment("\n")
		case p.at("@'"), p.at(`@"`):
			if err := p.hereString(depth); err != nil {
				return err
			}
		case p.at("'"):
			if err := p.single(); err != nil {
				return err
			}
		case p.at(`"`):
			p.copy(1)
			if err := p.double(`"`, depth); err != nil {
				return err
			}
		case p.at("("):
			parens++
			p.copy(1)
		case p.at(")"):
			parens--
			p.copy(1)
			if parens < 0 && depth > 0 {
				return nil
			}
		default:
			p.copy(1)
		}
	}
	return nil
}

// word is a hole outside of quotes.
func (p *pwsh) word() error {
	before := strings.TrimRight(p.src[:p.pos], " \t")
	switch {
	case strings.HasSuffix(before, "&"), strings.HasSuffix(before, ".") && len(before) < p.pos:
		return p.refuse(problems[command])
	case strings.HasSuffix(p.src[:p.pos], "$"), strings.HasSuffix(p.src[:p.pos], "{") && strings.HasSuffix(p.src[:p.pos-1], "$"):
		return p.refuse(problems[name])
	}
	// Inside a bare word ("src/…", "--name=…") the reference expands; quotes would end the word there.
	if p.pos > 0 && !strings.ContainsRune(" \t\r\n=([{,;|+-!", rune(p.src[p.pos-1])) || p.followed() {
		p.out.WriteString(p.take())
		return nil
	}
	p.out.WriteString(`"` + p.take() + `"`)
	return nil
}

// followed says whether a bare word goes on after the hole.
func (p *pwsh) followed() bool {
	end := strings.Index(p.src[p.pos+len(p.mark):], p.mark)
	rest := p.src[p.pos+2*len(p.mark)+end:]
	return rest != "" && !strings.ContainsRune(" \t\r\n)]},;|", rune(rest[0]))
}

// comment copies up to the end mark; references in it mean nothing.
func (p *pwsh) comment(end string) {
	n := strings.Index(p.src[p.pos:], end)
	stop := len(p.src)
	if n >= 0 {
		stop = p.pos + n + len(end)
	}
	for p.pos < stop {
		if p.at(p.mark) {
			p.out.WriteString(p.take())
			continue
		}
		p.copy(1)
	}
}

// single copies '…', or writes it as "…" when it holds a hole. Two quotes inside stand for one.
func (p *pwsh) single() error {
	end := p.pos + 1
	for end < len(p.src) {
		if p.src[end] == '\'' {
			if !strings.HasPrefix(p.src[end+1:], "'") {
				break
			}
			end++
		}
		end++
	}
	end = min(end, len(p.src))
	switch holes := strings.Contains(p.src[p.pos:end], p.mark); {
	case holes && end == len(p.src):
		return p.refuse("the quote before it is not closed")
	case !holes:
		p.copy(min(end+1, len(p.src)) - p.pos)
		return nil
	}
	p.pos++
	p.out.WriteByte('"')
	for p.pos < end {
		switch {
		case p.at(p.mark):
			p.out.WriteString(p.take())
		case p.at("''"):
			p.out.WriteByte('\'')
			p.pos += 2
		case p.at("`"), p.at("$"), p.at(`"`):
			p.out.WriteByte('`')
			p.copy(1)
		default:
			p.copy(1)
		}
	}
	p.out.WriteByte('"')
	p.pos++
	return nil
}

// double copies what follows an opening quote, up to and with the closing one.
func (p *pwsh) double(end string, depth int) error {
	for p.pos < len(p.src) {
		switch {
		case p.at(end):
			p.copy(len(end))
			return nil
		case p.at(p.mark):
			if strings.HasSuffix(p.src[:p.pos], "$") {
				return p.refuse("an expression cannot follow a $")
			}
			p.out.WriteString(p.take())
		case p.at("`"):
			if strings.HasPrefix(p.src[p.pos+1:], p.mark) {
				return p.refuse("an expression cannot follow a backtick")
			}
			p.copy(min(2, len(p.src)-p.pos))
		case p.at("$("):
			p.copy(2)
			if err := p.code(depth + 1); err != nil {
				return err
			}
		default:
			p.copy(1)
		}
	}
	return nil
}

// hereString is @'…'@ or @"…"@.
func (p *pwsh) hereString(depth int) error {
	quote := p.src[p.pos+1 : p.pos+2]
	end := "\n" + quote + "@"
	if quote == `"` {
		p.copy(2)
		return p.double(end, depth)
	}
	stop := strings.Index(p.src[p.pos:], end)
	if stop < 0 {
		stop = len(p.src) - p.pos
	}
	if strings.Contains(p.src[p.pos:p.pos+stop], p.mark) {
		return p.refuse("an expression cannot stand in @'…'@: write @\"…\"@")
	}
	p.copy(stop)
	return nil
}
