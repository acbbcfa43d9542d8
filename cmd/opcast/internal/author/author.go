// Package author has the commands for who writes ops: they begin a collection and its ops, check, format and generate, tell what
// became of a definition, and run one call.
package author

import (
	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
)

// commands gives what all commands share the methods of those here.
type commands struct{ *app.App }

// Commands are the commands of this package.
func Commands(a *app.App) []*cobra.Command {
	return app.Commands(commands{a},
		newInitCmd, newNewCmd, newCICmd, newCheckCmd, newFmtCmd,
		newSchemaCmd, newGenCmd, newExpandCmd, newDiffCmd, newExplainCmd, newExportCmd, newRunCmd, newSassCmd, newPredictCmd)
}
