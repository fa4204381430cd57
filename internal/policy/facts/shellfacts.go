package facts

// Shell is what a shell tool's text does.
type Shell struct {
	Opaque   bool // something that matters cannot be resolved: a program's name, a target, the text given to an interpreter
	Cut      bool // a part was too deep or too long to be looked at; then it is opaque, too
	Commands []Command
}

// Command is one simple command; a wrapper such as sudo comes before the command that it runs.
type Command struct {
	Name  string   // base name of the program; "" when it cannot be resolved
	Args  []string // resolved as far as possible, else as written; braces and globs expanded
	Raw   string   // as written
	Words []Word   // the program and its arguments, in detail
	Dir   []string // the directories it may run in, likeliest first; empty: unknown

	Stdin   Flow // what it reads from a pipe, a here-document or a redirection
	Fetched bool // a program text that it runs comes from the network
	Inner   bool // the command that a wrapper, find -exec or xargs runs
}

// Word is one field of a command after expansion.
type Word struct {
	Text    string // Hole stands for each part that cannot be resolved
	Raw     string // as written
	Glob    string // the pattern that the name came from, or that matched nothing; "" when it is no glob
	Fetched bool   // a part comes from the network
}

// Hole stands for an unresolvable part of a word: no argument can hold this character.
const Hole = "\x00"

// Flow is a text that moves between commands.
type Flow struct {
	From    bool // there is one
	Known   bool
	Text    string
	Fetched bool // it comes from the network

	names func() []string // the paths that it lists, holes included, when a find printed it
}
