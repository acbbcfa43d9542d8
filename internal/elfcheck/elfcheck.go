// Package elfcheck reads what a shared library exports and needs, and compares that with a policy.
//
// The library is linked without the libraries that its host process provides, so the linker cannot complain about a
// symbol that nobody defines: this package does.
package elfcheck

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// Symbol is an undefined symbol; if it has a version, Library is the one that has to define that.
type Symbol struct{ Name, Version, Library string }

// Library is the dynamic face of a shared library. Its lists are sorted.
type Library struct {
	// Exports are the names that it defines for others.
	Exports []string
	// Undefined are the symbols that it must find elsewhere; weak ones may be absent and are left out.
	Undefined []Symbol
	// Needed are the libraries that the loader opens with it.
	Needed []string
	// Name is what it calls itself (its SONAME), empty if it does not.
	Name string
}

// Read opens a shared library. A file that is no ELF library, or a damaged one, is an error.
func Read(path string) (lib *Library, err error) {
	defer damaged(path, &err)
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	lib = &Library{}
	if err := lib.fill(f); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return lib, nil
}

// Section returns the content of a section of an ELF file; it is empty where there is no such section.
func Section(path, name string) (content []byte, err error) {
	defer damaged(path, &err)
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	section := f.Section(name)
	if section == nil {
		return nil, nil
	}
	if content, err = section.Data(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return content, nil
}

// damaged turns a panic into an error: debug/elf is not hardened against hostile files, and whatever it trips over is a
// damaged file to us.
func damaged(path string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("read %s: damaged ELF file: %v", path, r)
	}
}

func (l *Library) fill(f *elf.File) error {
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		switch bind := elf.ST_BIND(s.Info); {
		case s.Section != elf.SHN_UNDEF:
			if bind != elf.STB_LOCAL {
				l.Exports = append(l.Exports, s.Name)
			}
		case bind == elf.STB_GLOBAL:
			l.Undefined = append(l.Undefined, Symbol{s.Name, s.Version, s.Library})
		}
	}
	if l.Needed, err = f.ImportedLibraries(); err != nil {
		return err
	}
	names, err := f.DynString(elf.DT_SONAME)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		l.Name = names[0]
	}
	slices.Sort(l.Exports)
	slices.Sort(l.Needed)
	slices.SortFunc(l.Undefined, func(a, b Symbol) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// systemLibraries are those that every Linux host has; the names are followed by a version, as in "libc.so.6".
var systemLibraries = []string{
	"ld-linux", "libc.so", "libdl.so", "libgcc_s.so", "libm.so", "libpthread.so", "librt.so", "libstdc++.so",
}

func isSystem(library string) bool {
	return slices.ContainsFunc(systemLibraries, func(s string) bool { return strings.HasPrefix(library, s) })
}

// Policy is what a library may do.
type Policy struct {
	// ExportPrefix begins every exported name.
	ExportPrefix string
	// Provided are the sorted symbols of the host process, Families the beginnings of names of others.
	Provided, Families []string
	// Linked are further libraries, by name without version ("libfoo.so"), on which the author linked on purpose.
	Linked []string
	// Standard is a set of systems on which the library must load; nil is this one only.
	Standard *Standard
}

// Linked are the libraries that flags for the linker name: "libfoo.so" of "-lfoo".
func Linked(flags []string) (names []string) {
	for _, f := range flags {
		if name, ok := strings.CutPrefix(f, "-l"); ok {
			names = append(names, "lib"+name+".so")
		}
	}
	return names
}

// Violations are the departures from a policy, each list sorted.
type Violations struct {
	// Exports are names that should be hidden, Needed libraries that users may not have, Undefined the symbols that
	// nobody will provide.
	Exports, Needed, Undefined []string
	// New are symbols that older systems lack, as "name@version".
	New []string
}

// Check compares the library with the policy.
func (l *Library) Check(p Policy) Violations {
	var found Violations
	for _, name := range l.Exports {
		if !strings.HasPrefix(name, p.ExportPrefix) {
			found.Exports = append(found.Exports, name)
		}
	}
	for _, library := range l.Needed {
		linked := func(name string) bool { return strings.HasPrefix(library, name) }
		if !isSystem(library) && !slices.ContainsFunc(p.Linked, linked) {
			found.Needed = append(found.Needed, library)
		}
	}
	for _, s := range l.Undefined {
		if p.Standard != nil && !p.Standard.Has(s.Version) {
			found.New = append(found.New, s.Name+"@"+s.Version)
		}
		_, provided := slices.BinarySearch(p.Provided, s.Name)
		known := func(family string) bool { return strings.HasPrefix(s.Name, family) }
		if !provided && s.Library == "" && !slices.ContainsFunc(p.Families, known) {
			found.Undefined = append(found.Undefined, s.Name)
		}
	}
	return found
}
