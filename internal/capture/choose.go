package capture

import (
	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

// Choices says what the user, and the repository that folder lies in, let be captured and forwarded. Where their files are
// not understood nothing is, and err says why.
func Choices(dir datadir.Dir, folder string) (config.Config, error) {
	c, err := config.Load(dir.Config())
	if err != nil {
		return c, err
	}
	c, _, err = c.Tighten(folder)
	return c, err
}

// choose is Choices for one event. It notes a file that is not understood, and settles whether events are forwarded: the
// environment can switch that on, and a repository off.
func choose(o *Options, folder string) config.Capture {
	c, err := Choices(o.Dir, folder)
	if err != nil {
		note(*o, "config: not understood, see `copilot-mem config list`")
	}
	o.Getenv = forwardEnv(o.Getenv, c)
	return c.Capture
}

// forwardEnv lets the config speak where the environment does not.
func forwardEnv(getenv func(string) string, c config.Config) func(string) string {
	return func(name string) string {
		v := getenv(name)
		switch {
		case name != "COPILOT_MEM_FORWARD":
			return v
		case c.NeverForward:
			return ""
		case v == "" && c.Forward != config.ForwardNone:
			return c.Forward
		}
		return v
	}
}

// ReaderFor settles for one session's folder what [CatchUp] may do.
func ReaderFor(o Options, folder string) (config.Capture, Options) {
	c, err := Choices(o.Dir, folder)
	if err != nil {
		c.Capture.Enabled = false
	}
	o.Getenv = forwardEnv(o.Getenv, c)
	return c.Capture, o
}
