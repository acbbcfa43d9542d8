// Package cost measures what a collection costs its author: seconds of builds and of imports.
//
// It works on a copy of the collection, and knows neither the builder nor the suite: who calls says how to build and to test.
package cost

import (
	"context"
	"io"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/bench"
)

// Options say what to measure.
type Options struct {
	Project *opdef.Project
	Python  string
	// Environ is the environment of Python's processes.
	Environ []string
	// Copy is a folder that holds a copy of the collection and nothing that was built.
	Copy string
	// Build builds the collection of a folder, and Test tests an op of it.
	Build func(ctx context.Context, dir string) error
	Test  func(ctx context.Context, dir, op string) error
	// Repeat is how often what takes seconds is measured; a clean build is made once.
	Repeat   int
	Progress io.Writer
}

// Measure measures all.
func Measure(ctx context.Context, o Options) ([]bench.Figure, error) {
	m := &measurement{Options: o}
	if err := m.readKernels(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{m.imports, m.builds} {
		if err := step(ctx); err != nil {
			return m.figures, err
		}
	}
	return m.figures, nil
}

// measurement is one in progress.
type measurement struct {
	Options
	figures []bench.Figure
	kernels []kernelFile
}

// add notes seconds of several samples, of which there is at least one.
func (m *measurement) add(name, what string, samples ...float64) {
	spread := bench.SpreadOf(samples)
	m.figures = append(m.figures, bench.Figure{Name: name, What: what, Unit: bench.Seconds, Value: &spread, Better: bench.Less})
}

// missing notes why a figure was not measured.
func (m *measurement) missing(name, what, reason string) {
	m.figures = append(m.figures, bench.Figure{Name: name, What: what, Unit: bench.Seconds, Missing: reason, Better: bench.Less})
}
