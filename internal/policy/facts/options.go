package facts

import "strings"

// Options says which options of a program take a value: single letters, and long names without their dashes.
type Options struct {
	Short string
	Long  []string
}

// Option is an option that was given: a letter or a long name, with the value when it takes one.
type Option struct {
	Name     string
	Value    Word
	HasValue bool
}

// Given are the options and operands of a command.
type Given struct {
	Options  []Option
	Operands []Word
}

// Has reports whether an option of one of the names was given.
func (g Given) Has(names ...string) bool {
	for _, o := range g.Options {
		for _, name := range names {
			if o.Name == name {
				return true
			}
		}
	}
	return false
}

// Values are the values of the options of the given names.
func (g Given) Values(names ...string) []Word {
	var out []Word
	for _, o := range g.Options {
		for _, name := range names {
			if o.Name == name && o.HasValue {
				out = append(out, o.Value)
			}
		}
	}
	return out
}

// Parse separates options from operands as getopt does with options anywhere: clusters of letters, values attached or in
// the next word, --name=value, and -- before the last operands.
func (spec Options) Parse(args []Word) Given { return spec.parse(args, false) }

// Leading is Parse for programs whose options end at the first operand.
func (spec Options) Leading(args []Word) Given { return spec.parse(args, true) }

func (spec Options) parse(args []Word, leading bool) Given {
	var g Given
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		switch {
		case text == "--":
			g.Operands = append(g.Operands, args[i+1:]...)
			return g
		case strings.HasPrefix(text, "--"):
			name, val, attached := strings.Cut(text[2:], "=")
			o := Option{Name: name, HasValue: attached, Value: part(args[i], val)}
			if !attached && spec.takesValue(name) && i+1 < len(args) {
				i++
				o.Value, o.HasValue = args[i], true
			}
			g.Options = append(g.Options, o)
		case len(text) > 1 && text[0] == '-':
			i = spec.cluster(&g, args, i)
		case leading:
			g.Operands = append(g.Operands, args[i:]...)
			return g
		default:
			g.Operands = append(g.Operands, args[i])
		}
	}
	return g
}

func (spec Options) takesValue(name string) bool {
	for _, l := range spec.Long {
		if l == name {
			return true
		}
	}
	return false
}

func (spec Options) cluster(g *Given, args []Word, i int) int {
	text := args[i].Text
	for j := 1; j < len(text); j++ {
		o := Option{Name: text[j : j+1]}
		if strings.IndexByte(spec.Short, text[j]) < 0 {
			g.Options = append(g.Options, o)
			continue
		}
		o.HasValue = true
		switch {
		case j+1 < len(text):
			o.Value = part(args[i], text[j+1:])
		case i+1 < len(args):
			i++
			o.Value = args[i]
		default:
			o.HasValue = false
		}
		g.Options = append(g.Options, o)
		break
	}
	return i
}

// part is a word made of a piece of another.
func part(w Word, text string) Word { return Word{Text: text, Raw: w.Raw, Fetched: w.Fetched} }

// GitOptions are git's own options, before the sub-command.
var GitOptions = globalOptions

// IsWrapper reports a program that runs the command in its operands.
func IsWrapper(name string) bool { _, ok := wrappers[name]; return ok }

// IsInterpreter reports a shell or another program that runs texts.
func IsInterpreter(name string) bool {
	_, ok := interpreters[interpreterName(name)]
	return ok || shells[name]
}
