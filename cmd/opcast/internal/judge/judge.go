// Package judge has the commands which say how right and how fast a collection is. They all make calls of it through the adaptors, or
// read what such calls have given.
package judge

import (
	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
)

// commands gives what all commands share the methods of those here.
type commands struct{ *app.App }

// Commands are the commands of this package.
func Commands(a *app.App) []*cobra.Command {
	return app.Commands(commands{a},
		newTestCmd, newCompareCmd, newBenchCmd, newTuneCmd,
		newMutantsCmd, newMatrixCmd, newReportCmd, newNativeCallerCmd)
}
