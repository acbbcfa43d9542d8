// Package cost measures what a collection costs its author: lines, seconds of builds and of imports, bytes.
//
// It works on a copy of the collection, and knows neither the builder nor the suite: who calls says how to build and to test.
package cost

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/bench"
)

// Options say what to measure.
type Options struct {
	Project *opdef.Project
	// Ops are those whose lines are counted.
	Ops    []*opdef.Op
	Python string
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
	for _, step := range []func(context.Context) error{m.lines, m.size, m.imports, m.builds} {
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

// add notes a figure of several samples, of which there is at least one.
func (m *measurement) add(name, what, unit string, exact bool, samples ...float64) {
	spread := bench.SpreadOf(samples)
	m.figures = append(m.figures, bench.Figure{Name: name, What: what, Unit: unit, Value: &spread, Better: bench.Less, Exact: exact})
}

// missing notes why a figure was not measured.
func (m *measurement) missing(name, what, unit, reason string) {
	m.figures = append(m.figures, bench.Figure{Name: name, What: what, Unit: unit, Missing: reason, Better: bench.Less})
}

// lines counts what the author has written of each op, and what was generated from it.
func (m *measurement) lines(context.Context) error {
	files, err := gen.Generate(m.Project)
	if err != nil {
		return err
	}
	for _, op := range m.Ops {
		text, err := os.ReadFile(filepath.Join(m.Project.Dir, filepath.FromSlash(op.File)))
		if err != nil {
			return fmt.Errorf("count lines: %w", err)
		}
		place := "lines/" + op.Name + "/"
		m.add(place+"definition", "lines of the definition without the reference", "lines", true, float64(definitionLines(string(text))))
		m.add(place+"kernels", "lines of the files with kernels for the host", "lines", true, float64(m.kernelLines(op)))
		generated, bytes := 0, 0
		for _, f := range files {
			if isAbout(f.Path, op.Name) {
				generated, bytes = generated+lineCount(string(f.Content)), bytes+len(f.Content)
			}
		}
		m.add(place+"generated", "lines of the files that were generated for this op alone", "lines", true, float64(generated))
		m.add(place+"generated_bytes", "bytes of these files", bench.Bytes, true, float64(bytes))
	}
	return nil
}

// size looks at the library that is there.
func (m *measurement) size(context.Context) error {
	name, what := "size/library/bytes", "the library of the collection"
	info, err := os.Stat(m.Project.LibraryPath())
	if err != nil {
		m.missing(name, what, bench.Bytes, err.Error())
		return nil
	}
	m.add(name, what, bench.Bytes, false, float64(info.Size()))
	return nil
}
