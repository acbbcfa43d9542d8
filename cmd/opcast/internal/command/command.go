// Package command is the opcast command line, one file per command.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/framework"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/load"
	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/opcast/opcast/internal/report"
)

// Exit codes; 0 is success.
const (
	exitFindings = 1 // mistakes in files, failed specs
	exitUsage    = 2
	exitMachine  = 3 // a compiler, Python package or device lacks
)

// ExitError ends the program with Code. A nil Err says that everything has been printed already.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the text of Err.
func (e ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e ExitError) Unwrap() error { return e.Err }

// Process is what the commands know of the process that they run in.
type Process struct {
	// Self is the path of this program. Some commands start it again; it is empty where that cannot be done.
	Self           string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// app is what the commands share: the program's path and streams, and the global flags.
type app struct {
	self           string
	stdin          io.Reader
	stdout, stderr io.Writer
	// dir is the project's folder.
	dir string
	// running says that the command line was understood.
	running bool
}

// Main runs the command line that args are and returns the exit code. If the context ends with an Interruption before the
// command has done its work, that decides.
func Main(ctx context.Context, p Process, args []string) int {
	a := &app{self: p.Self, stdin: p.Stdin, stdout: p.Stdout, stderr: p.Stderr}
	root := newRootCmd(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	exit := ExitError{Code: exitFindings, Err: err}
	if !errors.As(err, &exit) && !a.running {
		exit.Code = exitUsage
	}
	if cause := (Interruption{}); errors.As(context.Cause(ctx), &cause) {
		// Of what failed because of it, such as child processes, nothing has to be told, but that a report is lost.
		if exit.Code = cause.ExitCode(); !errors.Is(err, conformance.ErrUnwritten) {
			err = cause
		}
	}
	if exit.Err != nil {
		_, _ = fmt.Fprintf(a.stderr, "opcast: %s\n", report.Plain(err.Error()))
	}
	return exit.Code
}

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:              "opcast",
		Short:            "Declare an op once, use it from " + framework.Titles(framework.Names()),
		Version:          opcast.Version,
		SilenceErrors:    true,
		SilenceUsage:     true,
		PersistentPreRun: func(*cobra.Command, []string) { a.running = true },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.PersistentFlags().StringVarP(&a.dir, "dir", "C", ".", "folder of the project")
	root.AddCommand(a.completed([]*cobra.Command{
		newInitCmd(a),
		newNewCmd(a),
		newCICmd(a),
		newDoctorCmd(a),
		newCheckCmd(a),
		newFmtCmd(a),
		newSchemaCmd(a),
		newGenCmd(a),
		newBuildCmd(a),
		newRunCmd(a),
		newTestCmd(a),
		newCompareCmd(a),
		newBenchCmd(a),
		newTuneCmd(a),
		newMutantsCmd(a),
		newMatrixCmd(a),
		newReportCmd(a),
		newWheelCmd(a),
		newHubCmd(a),
		newNativeCallerCmd(a),
		newExplainCmd(a),
		newAuditCmd(a),
		newExpandCmd(a),
		newDiffCmd(a),
	})...)
	return root
}

// load reads the project. Its mistakes are printed, and become exit code 1.
func (a *app) load() (*opdef.Project, error) {
	p, diags, err := a.read()
	if err != nil {
		return nil, err
	}
	return p, a.findings(diags)
}

// read reads the project; a folder that is none is a wrong use.
func (a *app) read() (*opdef.Project, diag.List, error) {
	if err := a.needProject(); err != nil {
		return nil, nil, err
	}
	return load.Load(a.dir)
}

// needProject refuses a folder that is no project.
func (a *app) needProject() error {
	_, err := os.Stat(filepath.Join(a.dir, manifest.File))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = fmt.Errorf("%s is no project: it has no %s (name the project with -C, or begin one with opcast init)", a.dir, manifest.File)
		return ExitError{Code: exitUsage, Err: err}
	}
	return nil
}

// findings prints diagnostics and turns them into exit code 1.
func (a *app) findings(diags diag.List) error {
	if len(diags) == 0 {
		return nil
	}
	if err := diags.Print(a.stderr); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.stderr, count(len(diags), "mistake")); err != nil {
		return err
	}
	return ExitError{Code: exitFindings}
}

// count formats a number of things.
func count(n int, thing string) string { return plural(n, thing, thing+"s") }

func plural(n int, one, many string) string {
	if n != 1 {
		one = many
	}
	return fmt.Sprintf("%d %s", n, one)
}

// printJSON prints the result of --json.
func (a *app) printJSON(result any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}
