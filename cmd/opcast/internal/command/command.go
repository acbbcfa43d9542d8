// Package command is the opcast command line: the root of the commands that the packages beside it have, and how they end.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/cmd/opcast/internal/author"
	"github.com/opcast/opcast/cmd/opcast/internal/judge"
	"github.com/opcast/opcast/cmd/opcast/internal/ship"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/framework"
)

// Process is what the commands know of the process that they run in.
type Process struct {
	// Self is the path of this program. Some commands start it again; it is empty where that cannot be done.
	Self           string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Main runs the command line that args are and returns the exit code. If the context ends with an Interruption before the
// command has done its work, that decides.
func Main(ctx context.Context, p Process, args []string) int {
	a := &app.App{Self: p.Self, Stdin: p.Stdin, Stdout: diag.Shown{To: p.Stdout}, Stderr: diag.Shown{To: p.Stderr}}
	root := newRootCmd(a)
	understood := false
	root.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	exit := app.ExitError{Code: app.ExitFindings, Err: err}
	if !errors.As(err, &exit) && !understood {
		exit.Code = app.ExitUsage
	}
	if cause := (Interruption{}); errors.As(context.Cause(ctx), &cause) {
		// Of what failed because of it, such as child processes, nothing has to be told, but that a report is lost.
		if exit.Code = cause.ExitCode(); !errors.Is(err, conformance.ErrUnwritten) {
			err = cause
		}
	}
	if exit.Err != nil {
		_, _ = fmt.Fprintf(a.Stderr, "opcast: %s\n", err)
	}
	return exit.Code
}

func newRootCmd(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:           "opcast",
		Short:         "Declare an op once, use it from " + framework.Titles(framework.Names()),
		Version:       opcast.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.PersistentFlags().StringVarP(&a.Dir, "dir", "C", ".", "folder of the project")
	root.AddCommand(completed(a, slices.Concat(author.Commands(a), ship.Commands(a), judge.Commands(a)))...)
	return root
}

// Interruption is the cause for which the context of Main ends: a signal.
type Interruption struct{ Signal syscall.Signal }

// Signals are those that end a command in good order: Ctrl-C, kill, and a terminal that is closed.
var Signals = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// signalNames are the names that people and shells know.
var signalNames = map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}

// Error says what happened.
func (i Interruption) Error() string { return "interrupted by " + signalNames[i.Signal] }

// ExitCode is the code by which shells know that a signal ended a program.
func (i Interruption) ExitCode() int { return 128 + int(i.Signal) }
