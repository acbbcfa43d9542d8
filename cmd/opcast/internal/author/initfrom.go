package author

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/migrate"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/tomlfmt"
	"github.com/opcast/opcast/internal/system/safefile"
)

// initFrom drafts ops from files of the project. A folder that is no project becomes one; one that is gets more ops.
func (a commands) initFrom(dir, name string, flags *initFlags) error {
	definitions, err := flags.definitions()
	if err != nil {
		return err
	}
	if definitions {
		return a.initDefinitions(dir, name, flags)
	}
	sources, err := readSources(dir, flags.from)
	if err != nil {
		return err
	}
	functions, notes, err := a.read(sources, flags)
	if err != nil {
		return err
	}
	target := migrate.Project{Namespace: name + "_ops", Devices: flags.chosen}
	existing, err := a.existing(dir, flags)
	if err != nil {
		return err
	}
	if existing != nil {
		functions, notes = withoutTaken(functions, notes, existing.Ops)
		target = migrate.Project{Namespace: existing.Manifest.CPPNamespace(), Devices: existing.Manifest.Devices, Kind: existing.FreeKind()}
	}
	target.Taken = func(file, op string) bool { return holdsOther(dir, file, op) }
	drafts, more := migrate.Drafts(functions, sources, target)
	if err := a.tell(append(notes, more...)); err != nil {
		return err
	}
	if len(drafts) == 0 {
		return app.ExitError{Code: app.ExitFindings, Err: errors.New("nothing written: no op could be drafted")}
	}
	files, err := draftFiles(drafts)
	if err != nil {
		return err
	}
	if existing != nil {
		return a.addDrafts(dir, files, drafts, existing)
	}
	return a.layProject(dir, collectionOf(name, flags.chosen, drafts), files)
}

// read reads the functions that the flags name, all where they name none.
func (a commands) read(sources []migrate.Source, flags *initFlags) ([]migrate.Function, []migrate.Note, error) {
	own, err := flags.vocabulary()
	if err != nil {
		return nil, nil, err
	}
	functions, notes := migrate.Read(sources, own)
	if functions, err = flags.wanted(functions); err != nil {
		return nil, nil, errors.Join(a.tell(notes), err)
	}
	return functions, notes, nil
}

// tell prints notes.
func (a commands) tell(notes []migrate.Note) error {
	for _, n := range migrate.Sorted(notes) {
		if _, err := fmt.Fprintln(a.Stderr, n); err != nil {
			return err
		}
	}
	return nil
}

// vocabulary is what the author says of types.
func (flags *initFlags) vocabulary() (migrate.Vocabulary, error) {
	own := migrate.Vocabulary{Tensors: flags.tensors, Elements: flags.aliases}
	for _, name := range slices.Sorted(maps.Keys(flags.aliases)) {
		if _, known := dtype.Lookup(flags.aliases[name]); !known {
			return own, app.Usage("--alias %s: expected a dtype such as bf16, got %q", name, flags.aliases[name])
		}
	}
	return own, nil
}

// wanted are the functions that --only names, all without it.
func (flags *initFlags) wanted(functions []migrate.Function) ([]migrate.Function, error) {
	if len(flags.only) == 0 {
		return functions, nil
	}
	var kept []migrate.Function
	for _, name := range flags.only {
		i := slices.IndexFunc(functions, func(f migrate.Function) bool { return f.Name == name || f.OpName() == name })
		if i < 0 {
			return nil, app.Usage("--only: the files have no function %s that can be read", name)
		}
		if !slices.ContainsFunc(kept, func(f migrate.Function) bool { return f.OpName() == functions[i].OpName() }) {
			kept = append(kept, functions[i])
		}
	}
	return kept, nil
}

// holdsOther says whether a file exists that is no kernel of an op.
func holdsOther(dir, file, op string) bool {
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file))); err != nil {
		return false // nothing is there, or who writes the kernel says why nothing can be
	}
	kernel := false
	err := safefile.In(dir, func(root *os.Root) error {
		text, err := readSource(root, file)
		kernel = text == "" || strings.Contains(text, `"`+op+`.gen.h"`)
		return err
	})
	return err != nil || !kernel
}

// collectionOf is a collection with the devices and the files that drafts need.
func collectionOf(name string, devices []string, drafts []migrate.Draft) newCollection {
	if devices == nil {
		devices = migrate.Devices(drafts)
	}
	c := newCollection{Name: name, Namespace: name + "_ops", Devices: devices}
	for _, d := range drafts {
		if d.Source != "" && !matches(c.Sources(), d.Source) {
			c.More = append(c.More, d.Source)
		}
	}
	return c
}

// withoutTaken drops what became an op of the project before.
func withoutTaken(functions []migrate.Function, notes []migrate.Note, ops []*opdef.Op) ([]migrate.Function, []migrate.Note) {
	kept := slices.DeleteFunc(functions, func(f migrate.Function) bool {
		i := slices.IndexFunc(ops, func(op *opdef.Op) bool { return names.Pascal(op.Name) == names.Pascal(f.OpName()) })
		if i >= 0 {
			notes = append(notes, migrate.Note{File: f.File, Line: f.Line, Text: fmt.Sprintf("%s: left alone: %s exists", f.Name, ops[i].File)})
		}
		return i >= 0
	})
	return kept, notes
}

// addDrafts writes drafts into a project that exists.
func (a commands) addDrafts(dir string, files map[string]string, drafts []migrate.Draft, p *opdef.Project) error {
	if err := a.place(dir, files); err != nil {
		return err
	}
	for _, d := range drafts {
		if d.Source != "" && !matches(p.Manifest.Sources, d.Source) {
			if _, err := fmt.Fprintf(a.Stderr, "note: %s is in none of the sources in %s\n", d.Source, manifest.File); err != nil {
				return err
			}
		}
	}
	return a.generateIn(dir)
}

// draftFiles are the files of drafts, as `opcast fmt` lays them out.
func draftFiles(drafts []migrate.Draft) (map[string]string, error) {
	files := map[string]string{}
	for _, d := range drafts {
		text, err := tomlfmt.Format([]byte(d.Definition))
		if err != nil {
			return nil, fmt.Errorf("draft %s: %w", d.Name, err)
		}
		files["opdefs/"+d.Name+".toml"] = string(text)
		files[d.File] = d.Kernel
	}
	return files, nil
}

// readSources reads files that lie in the project's folder.
func readSources(dir string, paths []string) (sources []migrate.Source, err error) {
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("find file: %w", err)
		}
		name, err := filepath.Rel(dir, abs)
		if err != nil || !filepath.IsLocal(name) {
			return nil, app.Usage("--from: %s is outside of the project's folder, %s", path, dir)
		}
		if err := sourceName(filepath.ToSlash(name)); err != nil {
			return nil, app.Usage("--from: %w", err)
		}
		err = safefile.In(dir, func(root *os.Root) error {
			text, err := readSource(root, filepath.ToSlash(name))
			sources = append(sources, migrate.Source{Name: filepath.ToSlash(name), Text: text})
			return err
		})
		if err != nil {
			return nil, app.Usage("--from: %w", err)
		}
	}
	return sources, nil
}

// sourceName says why a file cannot be one of the sources in the manifest, which are patterns, or compiled beside kernels.
func sourceName(name string) error {
	odd := func(r rune) bool {
		return unicode.IsControl(r) || names.Invisible(r) || r == utf8.RuneError || strings.ContainsRune(`"\*?[`, r)
	}
	switch {
	case strings.ContainsFunc(name, odd):
		return fmt.Errorf(`rename %q: a source in %s has none of " \ * ? [ in its name, and no character that cannot be seen`, name, manifest.File)
	case strings.HasSuffix(name, ".c"):
		return fmt.Errorf("%s is in C, and sources are in C++: rename it to %[1]sc", name)
	}
	return nil
}

// readSource reads a file that is not larger than what is read.
func readSource(root *os.Root, name string) (string, error) {
	// A pipe would wait for who writes to it.
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", name)
	}
	file, err := safefile.OpenFile(root, name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no %s", name)
	} else if err != nil {
		return "", err
	}
	defer file.Close()
	var text strings.Builder
	if n, err := io.Copy(&text, io.LimitReader(file, migrate.MaxSize+1)); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	} else if n > migrate.MaxSize {
		return "", fmt.Errorf("%s is larger than %d bytes", name, migrate.MaxSize)
	} else if strings.ContainsRune(text.String(), 0) {
		return "", fmt.Errorf("%s is no text in UTF-8: it has bytes that are zero", name)
	}
	return strings.TrimPrefix(text.String(), "\ufeff"), nil
}
