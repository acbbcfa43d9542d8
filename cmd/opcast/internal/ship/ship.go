// Package ship has the commands for who builds a collection for others: they look at the machine, build, and write and judge what is
// handed out.
package ship

import (
	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
)

// commands gives what all commands share the methods of those here.
type commands struct{ *app.App }

// Commands are the commands of this package.
func Commands(a *app.App) []*cobra.Command {
	return app.Commands(commands{a}, newDoctorCmd, newBuildCmd, newWheelCmd, newHubCmd, newAuditCmd)
}
