// Package matrix proves that one built library serves the oldest and the newest versions of what it is used with, and
// every Python of the machine. It makes a throw-away environment for each, has the conformance suite run there, and
// holds the library that was loaded against that of the others.
package matrix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/system/tempdir"
)

// ErrUnknown means that an environment is asked for that there is not, ErrWheels that a folder has not the wheels to be tested.
var (
	ErrUnknown = errors.New("unknown environment")
	ErrWheels  = errors.New("wheels")
)

// Options say what to run.
type Options struct {
	Project *opdef.Project
	// UV is the program that makes environments.
	UV string
	// Profile is that of the checks which run; Test has it among its words.
	Profile string
	// Test is the command `opcast test` for the project, to which --python, --adaptor, --report and the ops are added.
	Test []string
	// Wheels is a folder with wheels of the project, which are installed and tested in place of the packages in its folder;
	// empty for these.
	Wheels string
	// Names narrow the run to these environments, Ops to these ops; empty means all.
	Names, Ops []string
	// Pythons are the interpreters of the machine, ascending.
	Pythons []Interpreter
	// Environ is the environment of child processes; what it says about Python is left out.
	Environ []string
	// Dir gets the environments while they are needed, and a report and a log of each.
	Dir string
	// Out gets a line when an environment begins and one when it ends.
	Out io.Writer
}

// The deadlines of child processes: frameworks have gigabytes, and the suite takes minutes in each environment.
const (
	installDeadline = 30 * time.Minute
	testDeadline    = 90 * time.Minute
)

// Outcome is what a run came to.
type Outcome struct {
	Report *report.Report
	// Broken says that results failed, that an environment could not be used although it could be made, that one loaded
	// another library, or that nothing ran. Versions that do not exist for a Python are a reason, and break nothing.
	Broken bool
}

// Run tests in every environment, one after another: each has gigabytes. An error means that nothing could be run.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	environments, err := selectEnvironments(o)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder for environments: %w", err)
	}
	for i := range environments {
		e := &environments[i]
		if e.wheels, err = wheels(o, e.packages(o.Project)); err != nil {
			return nil, err
		}
	}
	started := time.Now()
	r := &runner{options: o, Outcome: Outcome{Report: &report.Report{
		Schema: report.Schema, Collection: o.Project.Manifest.Name, Device: "cpu", Adaptors: map[string]string{},
		Started: started.UTC().Format(time.RFC3339),
	}}}
	for i, e := range environments {
		v, err := r.run(ctx, e)
		if ctx.Err() != nil { // what was cut off says nothing
			return r.interrupted(ctx, len(environments)-i)
		}
		r.add(v, err)
	}
	r.Report.Seconds = time.Since(started).Seconds()
	r.Broken = r.Broken || r.Report.LibrarySHA256 == ""
	return &r.Outcome, nil
}

// interrupted is the outcome of a run that was stopped before some environments; nil where there is nothing to tell.
func (r *runner) interrupted(ctx context.Context, missing int) (*Outcome, error) {
	if len(r.Report.Versions) == 0 {
		return nil, fmt.Errorf("matrix: %w", context.Cause(ctx))
	}
	r.Report.Interrupted, r.Broken = &report.Interruption{Reason: context.Cause(ctx).Error(), NotRun: missing}, true
	return &r.Outcome, nil
}

// selectEnvironments returns the environments that the options ask for.
func selectEnvironments(o Options) ([]Environment, error) {
	all, err := Environments(o.Project, o.Pythons)
	if err != nil || len(o.Names) == 0 {
		return all, err
	}
	var out []Environment
	for _, name := range o.Names {
		e, ok := find(all, name)
		if !ok {
			return nil, fmt.Errorf("%w %q, there are: %s", ErrUnknown, name, strings.Join(names(all), ", "))
		}
		out = append(out, e)
	}
	return out, nil
}

// runner collects what environments come to.
type runner struct {
	options Options
	Outcome
}

// unmakeableError says that no version of something exists for a Python: which is a fact and no failure.
type unmakeableError struct{ text string }

func (e *unmakeableError) Error() string { return e.text }

// run makes an environment, tests in it and removes it.
func (r *runner) run(ctx context.Context, e Environment) (report.Version, error) {
	start := time.Now()
	v := report.Version{Name: e.Name, Profile: r.options.Profile}
	if len(r.options.Ops) > 0 {
		v.Profile += ": " + strings.Join(r.options.Ops, ", ")
	}
	r.line("%s: %s", e.Name, cmp.Or(strings.Join(e.Requires, " "), "no environment"))
	err := r.fill(ctx, e, &v)
	if err != nil {
		v.Reason = oneLine(err.Error())
	}
	v.Seconds = time.Since(start).Seconds()
	return v, err
}

func (r *runner) fill(ctx context.Context, e Environment, v *report.Version) (err error) {
	if e.Reason != "" {
		return &unmakeableError{e.Reason}
	}
	temp, err := tempdir.Make(r.options.Dir, slug(e.Name))
	if err != nil {
		return fmt.Errorf("folder of the environment: %w", err)
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	python, err := r.install(ctx, temp.Path, e)
	if err != nil {
		return err
	}
	if err := r.verifyLibrary(ctx, python, e, v); err != nil {
		return err
	}
	return r.test(ctx, python, e, v)
}

// add takes an environment into the report, and says what it came to.
func (r *runner) add(v report.Version, err error) {
	if unmakeable := (*unmakeableError)(nil); err != nil && !errors.As(err, &unmakeable) {
		r.Broken = true
	}
	if first := r.Report.LibrarySHA256; first != "" && v.LibrarySHA256 != "" && v.LibrarySHA256 != first {
		v.Reason, r.Broken = "loaded another library than the environments before: it changed during the run", true
	}
	r.Report.LibrarySHA256 = cmp.Or(r.Report.LibrarySHA256, v.LibrarySHA256)
	r.Broken = r.Broken || v.Failed > 0
	r.Report.Versions = append(r.Report.Versions, v)
	r.line("%s: %s (%s)", v.Name, result(&v), report.Duration(v.Seconds))
}

// line prints progress; that nobody reads it is no reason to stop.
func (r *runner) line(format string, args ...any) {
	_, _ = fmt.Fprintf(r.options.Out, format+"\n", args...)
}

// reports is the folder that keeps what an environment leaves behind.
func (r *runner) reports(e Environment) string {
	return filepath.Join(r.options.Dir, "report", slug(e.Name))
}

func slug(name string) string { return strings.Join(strings.Fields(name), "-") }

// oneLine fits a message into a table.
func oneLine(text string) string {
	const limit = 240
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}
	return text
}
