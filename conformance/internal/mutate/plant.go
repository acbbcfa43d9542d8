package mutate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source says where to plant mutants.
type Source struct {
	// Dir is the folder of the project, Name that of the collection.
	Dir, Name string
	// Ops are those whose mutants are wanted; Adaptors all that the project has.
	Ops, Adaptors []string
	// Switch is the file that holds the number of the mutant which is on.
	Switch string
}

// Plant rewrites the generated C++ of a project so that it has all mutants of its ops, each behind its number.
func Plant(s Source) ([]*Mutant, error) {
	folder := filepath.Join(s.Dir, "backend", "gen")
	if err := os.WriteFile(filepath.Join(folder, HeaderName), []byte(Header(s.Switch)), 0o644); err != nil {
		return nil, fmt.Errorf("header of the switch: %w", err)
	}
	operators, err := Operators(true)
	if err != nil {
		return nil, err
	}
	var all []*Mutant
	for _, op := range s.Ops {
		path := filepath.Join(folder, op+".gen.cc")
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("generated C++: %w", err)
		}
		changed, mutants := Schemata("backend/gen/"+op+".gen.cc", string(text), operators, s.Ops, len(all)+1)
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			return nil, fmt.Errorf("generated C++: %w", err)
		}
		all = append(all, mutants...)
	}
	number(all)
	return all, idle(operators, all)
}

// Edits lists the mutants in the Python of a project.
func Edits(s Source) ([]*Mutant, error) {
	operators, err := Operators(false)
	if err != nil {
		return nil, err
	}
	return EditsOf(s, operators)
}

// EditsOf lists the mutants of some operators over Python.
func EditsOf(s Source, operators []*Operator) ([]*Mutant, error) {
	var all []*Mutant
	for _, o := range operators {
		mutants, err := o.edits(s)
		if err != nil {
			return nil, err
		}
		all = append(all, mutants...)
	}
	number(all)
	return all, nil
}

// edits are the mutants of an operator over Python.
func (o *Operator) edits(s Source) ([]*Mutant, error) {
	if layer := layerOf(o.Files); layer != "python" && layer != "*" && !slices.Contains(s.Adaptors, layer) {
		return nil, nil // a collection need not have every adaptor
	}
	files, err := filepath.Glob(filepath.Join(s.Dir, filepath.FromSlash(strings.ReplaceAll(o.Files, "NAME", s.Name))))
	if err != nil {
		return nil, fmt.Errorf("operator %s: %w", o.Kind, err)
	}
	var out []*Mutant
	found := false
	for _, path := range files {
		name, err := filepath.Rel(s.Dir, path)
		if err != nil {
			return nil, fmt.Errorf("operator %s: %w", o.Kind, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("operator %s: %w", o.Kind, err)
		}
		mutants := o.inFile(filepath.ToSlash(name), string(data), s.Ops)
		found = found || len(mutants) > 0
		out = append(out, slices.DeleteFunc(mutants, func(m *Mutant) bool {
			return (o.Op != "" || strings.Contains(m.File, "/_ops/")) && !slices.Contains(s.Ops, m.Op)
		})...)
	}
	if !found && !o.Optional {
		return nil, fmt.Errorf("operator %s of %s: %q matches nowhere: the text that it spoils has changed", o.Kind, o.Files, o.Pattern)
	}
	return out, nil
}

// inFile are the mutants of an operator in one file.
func (o *Operator) inFile(file, text string, ops []string) []*Mutant {
	var out []*Mutant
	for _, at := range o.places(text, text) {
		out = append(out, &Mutant{
			Op: o.opOf(file, text, at.start, ops), File: file, Line: line(text, at.start), Before: text[at.start:at.end],
			After: at.after, Text: around(text, at.start, at.end), Operator: o, start: at.start, end: at.end,
		})
	}
	return out
}

// idle reports the operators over C++ that found no place although every op has one.
func idle(operators []*Operator, mutants []*Mutant) error {
	var errs []error
	for _, o := range operators {
		used := slices.ContainsFunc(mutants, func(m *Mutant) bool { return m.Operator == o })
		if !used && !o.Optional {
			errs = append(errs, fmt.Errorf("operator %s: %q matches nowhere: the text that it spoils has changed", o.Kind, o.Pattern))
		}
	}
	return errors.Join(errs...)
}

// Edit plants mutants into the text of their file.
func Edit(text string, mutants []*Mutant) string {
	mutants = slices.Clone(mutants)
	slices.SortFunc(mutants, func(a, b *Mutant) int { return b.start - a.start }) // from the end: places before it stay
	for _, m := range mutants {
		text = text[:m.start] + m.After + text[m.end:]
	}
	return text
}
