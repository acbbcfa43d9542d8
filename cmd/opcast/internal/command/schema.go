package command

import (
	"github.com/opcast/opcast/internal/opdef/load"
	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/spf13/cobra"
)

func newSchemaCmd(a *app) *cobra.Command {
	schemas := map[string]func() (map[string]any, error){"definition": load.Schema, "manifest": manifest.Schema}
	return &cobra.Command{
		Use:   "schema {definition | manifest}",
		Short: "Print the JSON Schema of a file, for editors that complete and check TOML",
		Args:  cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), ValidArgs: []string{"definition", "manifest"},
		RunE: func(_ *cobra.Command, args []string) error {
			schema, err := schemas[args[0]]()
			if err != nil {
				return err
			}
			return a.printJSON(schema)
		},
	}
}
