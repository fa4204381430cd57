package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copilot-mem/copilot-mem/internal/config"
	"github.com/copilot-mem/copilot-mem/internal/datadir"
)

type configJSON struct {
	SchemaVersion int          `json:"schemaVersion"`
	Path          string       `json:"path"`
	RepoPath      string       `json:"repoPath"` // empty where the current repository has no file
	Values        []configPair `json:"values"`
}

type configPair struct {
	Key     string `json:"key"`
	Value   string `json:"value"` // what holds in the current folder
	Default string `json:"default"`
	From    string `json:"from"` // default, user or repo
}

func newConfigCmd(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "What is captured, kept and forwarded", Args: cobra.NoArgs,
		Long: "What is captured, kept and forwarded: one commented file in the data folder, and " + config.RepoFile + " in a repository, which can only switch more off.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigGetCmd(e), newConfigSetCmd(e), newConfigUnsetCmd(e), newConfigListCmd(e), newConfigPathCmd(e), newConfigEditCmd(e))
	for _, sub := range cmd.Commands() {
		usageArgs(sub)
	}
	return cmd
}

// config is what the user chose. A file with mistakes is told of and what is understood of it holds.
func (e *env) config() (config.Config, error) {
	dir, err := e.dataDir()
	if err != nil {
		return config.Default(), err
	}
	c, err := config.Load(dir.Config())
	if _, ok := errors.AsType[*config.FileError](err); ok {
		fmt.Fprintf(e.Stderr, "copilot-mem: warning: %v\n", err)
		err = nil
	}
	return c, err
}

func newConfigGetCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "get KEY", Short: "Print what holds here", Args: cobra.ExactArgs(1), ValidArgs: configNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, ok := config.Find(args[0]); !ok {
				return &config.KeyError{Key: args[0], Message: "there is no such key"}
			}
			out, err := e.configValues()
			if err != nil {
				return err
			}
			for _, p := range out.Values {
				if p.Key != args[0] {
					continue
				}
				if asJSON {
					out.Values = []configPair{p}
					return e.printJSON(out)
				}
				_, err = fmt.Fprintln(e.Stdout, p.Value)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

func newConfigListCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List every key with what holds here", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			out, err := e.configValues()
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(out)
			}
			w := &lines{w: e.Stdout}
			for i, p := range out.Values {
				from := ""
				if p.From != "default" {
					from = "  (" + p.From + ")"
				}
				w.printf("%-22s %s%s\n", p.Key, p.Value, from)
				w.printf("    %s; takes %s\n", config.Keys[i].Help, config.Keys[i].Takes)
			}
			return w.err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// configValues says what holds in the current folder, and who said it.
func (e *env) configValues() (configJSON, error) {
	out := configJSON{SchemaVersion: 1, Values: []configPair{}}
	dir, err := e.dataDir()
	if err != nil {
		return out, err
	}
	out.Path = dir.Config()
	user, err := config.Load(out.Path)
	if err != nil {
		return out, err
	}
	here, repo, err := user.Tighten(e.Dir)
	out.RepoPath = repo
	if err != nil {
		return out, err
	}
	preset := config.Default()
	for _, k := range config.Keys {
		p := configPair{k.Name, k.Value(here), k.Value(preset), "default"}
		if k.Value(user) != p.Default {
			p.From = "user"
		}
		if k.Value(user) != p.Value {
			p.From = "repo"
		}
		out.Values = append(out.Values, p)
	}
	return out, nil
}

func newConfigSetCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Choose a value; comments in the file stay", Args: cobra.ExactArgs(2), ValidArgs: configNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.changeConfig(func(data []byte) ([]byte, error) { return config.Set(data, args[0], args[1]) })
		},
	}
}

func newConfigUnsetCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY", Short: "Go back to the default", Args: cobra.ExactArgs(1), ValidArgs: configNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.changeConfig(func(data []byte) ([]byte, error) { return config.Unset(data, args[0]) })
		},
	}
}

func configNames() (names []string) {
	for _, k := range config.Keys {
		names = append(names, k.Name)
	}
	return names
}

// changeConfig writes the file anew, beside itself, and makes one with every key explained where there is none.
func (e *env) changeConfig(change func([]byte) ([]byte, error)) error {
	dir, err := e.dataDir()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(dir.Config())
	if errors.Is(err, fs.ErrNotExist) {
		data, err = config.Template(), nil
	}
	if err != nil {
		return err
	}
	if data, err = change(data); err != nil {
		return err
	}
	return writeConfig(dir, data)
}

func writeConfig(dir datadir.Dir, data []byte) error {
	if err := dir.Ensure(); err != nil {
		return err
	}
	f, err := os.CreateTemp(string(dir), ".config-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), dir.Config())
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

func newConfigPathCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print where the file lies", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := e.dataDir()
			if err == nil {
				_, err = fmt.Fprintln(e.Stdout, dir.Config())
			}
			return err
		},
	}
}

func newConfigEditCmd(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Open the file in $VISUAL or $EDITOR, and check it afterwards", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			editor := strings.Fields(e.Getenv("VISUAL"))
			if len(editor) == 0 {
				editor = strings.Fields(e.Getenv("EDITOR"))
			}
			if len(editor) == 0 {
				return &usageError{errors.New("no editor: neither VISUAL nor EDITOR is set"), "set EDITOR, or use `copilot-mem config set`"}
			}
			dir, err := e.dataDir()
			if err != nil {
				return err
			}
			if _, err := os.Stat(dir.Config()); errors.Is(err, fs.ErrNotExist) {
				if err := writeConfig(dir, config.Template()); err != nil {
					return err
				}
			}
			run := exec.CommandContext(cmd.Context(), editor[0], append(editor[1:], dir.Config())...)
			run.Stdin, run.Stdout, run.Stderr = e.Stdin, e.Stdout, e.Stderr
			if err := run.Run(); err != nil {
				return fmt.Errorf("%s: %w", editor[0], err)
			}
			_, err = config.Load(dir.Config())
			return err
		},
	}
}
