package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	copilotmem "github.com/copilot-mem/copilot-mem"
)

// versionInfo is what is known of this build; the revision is empty where the build had no version control.
type versionInfo struct {
	SchemaVersion int    `json:"schemaVersion"`
	Version       string `json:"version"`
	Revision      string `json:"revision"`
	Modified      bool   `json:"modified"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
}

func newVersionCmd(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := buildInfo()
			if asJSON {
				return e.printJSON(v)
			}
			line := "copilot-mem " + v.Version
			if v.Revision != "" {
				line += " (" + v.Revision + ")"
			}
			_, err := fmt.Fprintf(e.Stdout, "%s %s %s\n", line, v.Go, v.Platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return cmd
}

// pluginVersion reads the one place where the version is written, plugin.json.
func pluginVersion() string {
	data, err := copilotmem.Files.ReadFile("plugin.json")
	if err != nil {
		panic("plugin.json is not embedded: " + err.Error())
	}
	var manifest struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil || manifest.Version == "" {
		panic(fmt.Sprintf("plugin.json: no version (%v)", err))
	}
	return manifest.Version
}

func buildInfo() versionInfo {
	v := versionInfo{SchemaVersion: 1, Version: pluginVersion(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
