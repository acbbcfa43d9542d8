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
	c := commands{a}
	return []*cobra.Command{
		newInitCmd(c),
		newNewCmd(c),
		newCICmd(c),
		newCheckCmd(c),
		newFmtCmd(c),
		newSchemaCmd(c),
		newGenCmd(c),
		newExpandCmd(c),
		newDiffCmd(c),
		newExplainCmd(c),
		newRunCmd(c),
	}
}
