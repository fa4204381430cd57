package bundled

import (
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/policy/facts"
)

// diskPrograms change a device that is an operand. listing names the options that only show something.
var diskPrograms = map[string]string{
	"wipefs": "n no-act h help V version", "fdisk": "l list x h help V version", "sfdisk": "l list d dump J json s show-size V verify F list-free h help v version",
	"cfdisk": "h help V version", "gdisk": "l", "sgdisk": "p print i info v verify", "parted": "l list h help v version", "shred": "help version",
	"mke2fs": "n", "mkswap": "", "blkdiscard": "", "mkdosfs": "",
}

func diskTools(f *facts.Facts, _ func(string) bool) []Hit {
	for _, c := range commands(f) {
		listing, ok := diskPrograms[c.Name]
		if !ok && !strings.HasPrefix(c.Name, "mkfs") {
			continue
		}
		g := facts.Options{}.Parse(c.Words[1:])
		if g.Has(strings.Fields(listing)...) || c.Name == "parted" && partedShows(g.Operands) {
			continue
		}
		for _, w := range g.Operands {
			if device(w.Text) {
				return []Hit{{Action: "deny", Text: "`" + short(c.Raw) + "` changes the device " + w.Text}}
			}
		}
	}
	for _, file := range f.Files() {
		if f.IsShell() && file.Action != "read" && device(file.Abs) {
			return []Hit{{Action: "deny", Text: "this writes to the device " + file.Abs}}
		}
	}
	return nil
}

func partedShows(operands []facts.Word) bool {
	return len(operands) > 1 && slices.Contains([]string{"print", "p", "unit", "help", "version"}, operands[1].Text)
}

// device reports a path in /dev that is neither a stream nor memory.
func device(path string) bool {
	name, ok := strings.CutPrefix(path, "/dev/")
	if !ok || name == "" {
		return false
	}
	first, _, _ := strings.Cut(name, "/")
	switch first {
	case "null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "fd", "tty", "ptmx", "pts", "shm", "console", "tcp", "udp", "mqueue", "log":
		return false
	}
	return !strings.HasPrefix(first, "tty")
}
