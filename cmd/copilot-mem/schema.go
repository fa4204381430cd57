package main

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	copilotmem "github.com/copilot-mem/copilot-mem"
)

const (
	schemaDir    = "assets/schemas"
	schemaEnding = ".schema.json"
)

func newSchemaCmd(e *env) *cobra.Command {
	names := schemaNames()
	return &cobra.Command{
		Use:       "schema " + strings.Join(names, "|"),
		Short:     "Print a JSON Schema, for editors",
		Long:      "Print the JSON Schema of a file that Copilot CLI or copilot-mem reads: for skills and agents that of the frontmatter.",
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := fs.ReadFile(copilotmem.Files, schemaDir+"/"+args[0]+schemaEnding)
			if err != nil {
				return &usageError{fmt.Errorf("no schema of %q", args[0]), "write one of " + strings.Join(names, ", ")}
			}
			_, err = e.Stdout.Write(data)
			return err
		},
	}
}

// schemaNames are the embedded schemas: every file of assets/schemas is one.
func schemaNames() []string {
	files, err := fs.Glob(copilotmem.Files, schemaDir+"/*"+schemaEnding)
	if err != nil || len(files) == 0 {
		panic("no schemas are embedded") // a broken build
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, schemaDir+"/"), schemaEnding))
	}
	return names
}
