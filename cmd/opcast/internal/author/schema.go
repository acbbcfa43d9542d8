package author

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/raw"
)

var schemas = map[string]func() (map[string]any, error){"definition": raw.Schema, "manifest": manifest.Schema}

func newSchemaCmd(a commands) *cobra.Command {
	return &cobra.Command{
		Use:   "schema {definition | manifest}",
		Short: "Print the JSON Schema of a file, for editors that complete and check TOML",
		Args:  cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), ValidArgs: []string{"definition", "manifest"},
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := schemaText(args[0])
			if err == nil {
				_, err = io.WriteString(a.Stdout, text)
			}
			return err
		},
	}
}

// schemaText is a schema as a file.
func schemaText(name string) (string, error) {
	schema, err := schemas[name]()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = (&app.App{Stdout: &text}).PrintJSON(schema)
	return text.String(), err
}
