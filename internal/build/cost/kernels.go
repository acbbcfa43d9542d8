package cost

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kernelFile is a file with kernels.
type kernelFile struct {
	name, text string
	lines      int
}

// hostSuffixes are those of files that a compiler for the host takes.
var hostSuffixes = []string{".cc", ".cpp", ".cxx"}

// readKernels reads the sources of the copy that somebody has written.
func (m *measurement) readKernels() error {
	err := filepath.WalkDir(m.Copy, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(hostSuffixes, filepath.Ext(path)) || strings.Contains(d.Name(), ".gen.") {
			return err
		}
		name, err := filepath.Rel(m.Copy, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		m.kernels = append(m.kernels, kernelFile{filepath.ToSlash(name), string(text), lineCount(string(text))})
		return err
	})
	if err != nil {
		return fmt.Errorf("read kernels: %w", err)
	}
	return nil
}

// about says whether a file has kernels of an op: it includes what was generated for them.
func (k *kernelFile) about(op string) bool {
	return strings.Contains(k.text, `"`+op+`.gen.h"`)
}

// typical is the file of middling length that is about one op, and that op. Where every file is about several ops, it is one of
// these, with the first of its ops; false where no file is about any.
func (m *measurement) typical() (file *kernelFile, op string, found bool) {
	type one struct {
		file *kernelFile
		op   string
	}
	var list, mixed []one
	for i := range m.kernels {
		var ops []string
		for _, name := range m.Project.OpNames() {
			if m.kernels[i].about(name) {
				ops = append(ops, name)
			}
		}
		switch len(ops) {
		case 0:
		case 1:
			list = append(list, one{&m.kernels[i], ops[0]})
		default:
			mixed = append(mixed, one{&m.kernels[i], ops[0]})
		}
	}
	if len(list) == 0 {
		list = mixed
	}
	if len(list) == 0 {
		return nil, "", false
	}
	slices.SortStableFunc(list, func(a, b one) int { return cmp.Compare(a.file.lines, b.file.lines) })
	middle := list[len(list)/2]
	return middle.file, middle.op, true
}

// lineCount counts lines that are not empty.
func lineCount(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}
