package capture

import (
	"io"
	"os"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

// readerWait is how long a reader in the background waits for the end of a turn.
const readerWait = 3 * time.Second

// Main is both programs' entry: EVENT, --read-transcript PATH SESSION for the reader that a stop event leaves behind,
// or --forward for the one that hands events to the sink. Anything else is passed over in silence. readerArgs stand
// before those, where the program needs it.
func Main(args []string, stdin io.Reader, getenv func(string) string, readerArgs ...string) {
	defer func() { _ = recover() }()
	dir, err := datadir.Find(getenv)
	if err != nil {
		return
	}
	if len(args) > 0 && args[0] == "--forward" {
		c, _ := config.Load(dir.Config()) // events that a repository keeps back never come here
		getenv = forwardEnv(getenv, c)
	}
	switch {
	case len(args) == 3 && args[0] == "--read-transcript":
		o := Options{Event: "transcript", Dir: dir, Now: time.Now}
		defer func() {
			if recover() != nil {
				note(o, "panic")
			}
		}()
		if _, err := readTranscript(dir, args[1], args[2], readerWait, forwards(getenv)); err != nil {
			note(o, problem(err))
		}
		if forwards(getenv) {
			emptySink(o, getenv)
		}
	case len(args) == 1 && args[0] == "--forward":
		emptySink(Options{Event: "forward", Dir: dir, Now: time.Now}, getenv)
	case len(args) > 0:
		exe, err := os.Executable()
		if err != nil {
			exe = "" // nobody can be left behind; the next prompt reads the transcript
		}
		Run(Options{
			Event: args[0], Stdin: stdin, Dir: dir, Getenv: getenv, Now: time.Now, Exe: exe, ReaderArgs: readerArgs,
		})
	}
}

// Event captures one event of another program's making and leaves no reader behind.
func Event(name string, stdin io.Reader, getenv func(string) string) {
	dir, err := datadir.Find(getenv)
	if err != nil {
		return
	}
	Run(Options{Event: name, Stdin: stdin, Dir: dir, Getenv: getenv, Now: time.Now})
}

func emptySink(o Options, getenv func(string) string) {
	defer func() {
		if recover() != nil {
			note(o, "panic")
		}
	}()
	if err := Forward(o.Dir, getenv); err != nil {
		note(o, "forward: "+problem(err))
	}
}
