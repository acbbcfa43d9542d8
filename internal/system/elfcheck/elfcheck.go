// Package elfcheck reads what a shared library exports and needs, and compares that with a policy.
//
// The library is linked without the libraries that its host process provides, so the linker cannot complain about a
// symbol that nobody defines: this package does.
package elfcheck

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Symbol is an undefined symbol; if it has a version, Library is the one that has to define that.
type Symbol struct{ Name, Version, Library string }

// Library is the dynamic face of a shared library. Its lists are sorted.
type Library struct {
	Header
	// Exports are the names that it defines for others.
	Exports []string
	// Undefined are the symbols that it must find elsewhere, Weak those that may be absent.
	Undefined, Weak []Symbol
	// Versions are those that other libraries must have.
	Versions []Need
	// Search are the folders in which the loader looks for what it needs (RPATH and RUNPATH), in their order.
	Search []string
	// Needed are the libraries that the loader opens with it.
	Needed []string
	// Name is what it calls itself (its SONAME), empty if it does not.
	Name string
	// DeviceCode lists the CUDA code in it.
	DeviceCode []string
	// Program says that it is to be started: its addresses are fixed, or it says so, or it names a loader and not itself, as the C
	// library does, which is both. No loader takes a program for a library.
	Program bool
	// Stripped says that it has no symbols for debuggers, ExecutableStack that it wants to run code on the stack.
	Stripped, ExecutableStack bool
}

// Read opens a shared library. A file that is no ELF library, or a damaged one, is an error.
func Read(path string) (*Library, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return Parse(path, f, info.Size())
}

// Parse reads a shared library of some bytes. The name stands in errors.
func Parse(name string, r io.ReaderAt, size int64) (lib *Library, err error) {
	defer damaged(name, &err)
	lib = &Library{}
	if lib.Header, err = ReadHeader(r); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if !lib.wide {
		return nil, fmt.Errorf("read %s: it is for %s, and only libraries of 64 bits, lowest byte first, can be read", name, lib.Machine)
	}
	if err := lib.read(r, size); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return lib, nil
}

// read reads all but the header.
func (l *Library) read(r io.ReaderAt, size int64) error {
	t, err := readTables(r, size)
	if err != nil {
		return err
	}
	hasTable := func(s elf.Section64) bool { return elf.SectionType(s.Type) == elf.SHT_SYMTAB }
	l.Stripped = !slices.ContainsFunc(t.sections, hasTable)
	interpreted := false
	for _, p := range t.segments {
		l.ExecutableStack = l.ExecutableStack || elf.ProgType(p.Type) == elf.PT_GNU_STACK && elf.ProgFlag(p.Flags)&elf.PF_X != 0
		interpreted = interpreted || elf.ProgType(p.Type) == elf.PT_INTERP
	}
	m, err := newImage(t.segments, r, size)
	if err != nil {
		return err
	}
	if err := l.fill(m); err != nil {
		return err
	}
	l.Program = l.Type == elf.ET_EXEC || elf.DynFlag1(m.value(elf.DT_FLAGS_1))&elf.DF_1_PIE != 0 || interpreted && l.Name == ""
	l.DeviceCode, err = deviceCode(&t, r, size)
	return err
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

func (l *Library) fill(m *image) (err error) {
	if l.Needed, err = m.texts(elf.DT_NEEDED); err != nil {
		return err
	}
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		paths, err := m.texts(tag)
		if err != nil {
			return err
		}
		for _, p := range paths {
			l.Search = append(l.Search, strings.Split(p, ":")...)
		}
	}
	names, err := m.texts(elf.DT_SONAME)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		l.Name = names[0]
	}
	if err := l.fillSymbols(m); err != nil {
		return err
	}
	slices.Sort(l.Exports)
	slices.Sort(l.Needed)
	byName := func(a, b Symbol) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	}
	slices.SortFunc(l.Undefined, byName)
	slices.SortFunc(l.Weak, byName)
	slices.SortFunc(l.Versions, func(a, b Need) int {
		return cmp.Or(strings.Compare(a.Library, b.Library), strings.Compare(a.Version, b.Version))
	})
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
	// ExportPrefixes begin the exported names.
	ExportPrefixes []string
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
		begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if !slices.ContainsFunc(p.ExportPrefixes, begins) {
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
