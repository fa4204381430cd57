package capture

import (
	"io"
	"os"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

// readerWait is how long a reader in the background waits for the end of a turn.
const readerWait = 3 * time.Second

// Main is both programs' entry: EVENT, or --read-transcript PATH SESSION for the reader that a stop event leaves
// behind. Anything else is passed over in silence. readerArgs stand before the reader's own, where the program needs it.
func Main(args []string, stdin io.Reader, getenv func(string) string, readerArgs ...string) {
	defer func() { _ = recover() }()
	dir, err := datadir.Find(getenv)
	if err != nil {
		return
	}
	switch {
	case len(args) == 3 && args[0] == "--read-transcript":
		o := Options{Event: "transcript", Dir: dir, Now: time.Now}
		defer func() {
			if recover() != nil {
				note(o, "panic")
			}
		}()
		if _, err := ReadTranscript(dir, args[1], args[2], readerWait); err != nil {
			note(o, problem(err))
		}
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
