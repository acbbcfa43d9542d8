// Package conformance proves, op by op and adaptor by adaptor, that a collection does what its definitions say.
//
// The suite is made from the definitions: it knows no op by name, so it serves any project. Go makes the inputs, keeps one
// long-lived Python process per framework, and compares bytes itself: no framework judges itself. The oracle is the
// definition's reference in float64. Checks are data (see registry.go); each runs for every op through every adaptor, as
// one Ginkgo spec, and every such combination has a result in the report. A missing one is a failure.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
)

// Version is the version of the suite in reports: results of different versions are not comparable check by check.
const Version = "3"

// Options say what to test.
type Options struct {
	Project *opdef.Project
	// Python is the interpreter of the environment with the frameworks.
	Python string
	// Ops and Adaptors narrow the run; empty means all.
	Ops, Adaptors []string
	// Device is "cpu", which is also meant by nothing, or "cuda".
	Device string
	// Native is the command that runs ServeNative with the argument that is appended; empty leaves that caller out.
	Native []string
	// Random is the number of random calls for each op; zero stands for a few.
	Random int
	// Out gets progress, failures and the closing summary; Verbose adds a line per check.
	Out     io.Writer
	Verbose bool
	// ReportDir gets report.json, junit.xml, index.html and the failing cases; empty writes none.
	ReportDir string
	// Stale returns the generated files of the project that are out of date; nil leaves that check out.
	Stale func(context.Context) ([]string, error)
	// T is told about failures in a Go test; nil outside of one.
	T interface{ Fail() }
}

// ErrNotBuilt means that the library under test does not exist.
var ErrNotBuilt = errors.New("the library is not built")

// ErrUnknown means that the options name an op or adaptor that the project does not have.
var ErrUnknown = errors.New("unknown name")

// ErrMissing means that an adaptor which the options name cannot be used on this machine.
var ErrMissing = errors.New("cannot be tested here")

// Run tests the collection of a project. The summary counts results; an error means that the suite could not run.
// Ginkgo allows one run per process.
func Run(ctx context.Context, o Options) (report.Summary, error) {
	ops, adaptors, err := selection(o)
	if err != nil {
		return report.Summary{}, err
	}
	s := &session{options: o, ops: ops, printer: &printer{out: o.Out, verbose: o.Verbose}}
	if err := s.open(ctx, adaptors); err != nil {
		return report.Summary{}, errors.Join(err, s.close())
	}
	s.specs()
	runGinkgo(o)
	s.fillHoles()
	summary, err := s.publish()
	return summary, errors.Join(err, s.close())
}

// selection applies the options' filters.
func selection(o Options) (ops []*opdef.Op, adaptors []string, err error) {
	for _, name := range o.Ops {
		if !slices.ContainsFunc(o.Project.Ops, func(op *opdef.Op) bool { return op.Name == name }) {
			return nil, nil, fmt.Errorf("op %q: %w", name, ErrUnknown)
		}
	}
	for _, op := range o.Project.Ops {
		if len(o.Ops) == 0 || slices.Contains(o.Ops, op.Name) {
			ops = append(ops, op)
		}
	}
	have := append(slices.Clone(o.Project.Manifest.Adaptors), backendName, nativeName, opCallName)
	slices.Sort(have)
	for _, name := range o.Adaptors {
		if !slices.Contains(have, name) {
			return nil, nil, fmt.Errorf("adaptor %q: %w", name, ErrUnknown)
		}
	}
	for _, name := range have {
		// The bare backend is what the others are compared with, so it always starts.
		if len(o.Adaptors) == 0 || slices.Contains(o.Adaptors, name) || name == backendName {
			adaptors = append(adaptors, name)
		}
	}
	return ops, adaptors, nil
}

// device is the name of the device under test in messages.
func (o *Options) device() string {
	if o.Device == "cuda" {
		return "cuda:0"
	}
	return "cpu"
}

// LibraryPath is where `opcast build` puts the library.
func LibraryPath(p *opdef.Project) string {
	name := p.Manifest.Name
	return filepath.Join(p.Dir, "backend", "python", "src", name+"_backend", "lib", "lib"+name+".so")
}

func requireLibrary(p *opdef.Project) error {
	if _, err := os.Stat(LibraryPath(p)); err != nil {
		return fmt.Errorf("%w: %s", ErrNotBuilt, LibraryPath(p))
	}
	return nil
}
