package audit

import (
	"debug/elf"
	_ "embed" // for a table
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/system/elfcheck"
	"github.com/opcast/opcast/internal/system/version"
)

// machine is the one that standards speak of.
const machine = "x86_64"

// stableABI are the names that every CPython since 3.9 provides, as kernel-abi-check knows them: a test compares.
//
//go:embed stable_abi.txt
var stableABI string

// host is a program or framework that provides symbols to what it loads: their beginnings, and the library that has to be needed
// for them, if there is one.
type host struct {
	name               string
	symbols, libraries []string
}

// hosts are those that libraries of frameworks are made for.
func hosts() []host {
	all := []host{{name: "tvm-ffi", symbols: []string{"TVMFFI"}, libraries: []string{"libtvm_ffi.so"}}}
	for _, fw := range framework.All() {
		if len(fw.Handlers.Symbols) > 0 {
			all = append(all, host{fw.Name, fw.Handlers.Symbols, fw.Handlers.Beside()})
		}
	}
	return all
}

// entryPoints are the beginnings of the names that libraries export for those that load them.
func entryPoints() []string {
	all := []string{"__tvm_ffi_", "PyInit_"}
	for _, fw := range framework.All() {
		all = append(all, "opcast_"+fw.Name+"_")
	}
	return all
}

// judge collects what it finds in a report.
type judge struct {
	rules    Rules
	standard *elfcheck.Standard
	report   *Report
	// inside are the libraries in the same wheel: the folders of installations in which their names lie.
	inside map[string][]string
	// alike are the findings about a file under a code: how many there were, and which one stands for those that are too many.
	alike map[[2]string]struct{ count, rest int }
}

// mostAlike is how many findings about a file under one code are kept: whoever made the file may have made millions.
const mostAlike = 50

// add reports a finding about a file.
func (j *judge) add(file, code, hint, format string, args ...any) {
	if j.alike == nil {
		j.alike = map[[2]string]struct{ count, rest int }{}
	}
	key, list := [2]string{file, code}, &j.report.Findings
	n := j.alike[key]
	switch n.count++; {
	case n.count <= mostAlike:
		list.Add(diag.Pos{File: diag.Printable(file)}, code, hint, format, args...)
	case n.count == mostAlike+1:
		n.rest = len(*list)
		list.Add(diag.Pos{File: diag.Printable(file)}, code, "", "and 1 more like these")
	default:
		(*list)[n.rest].Text = fmt.Sprintf("and %d more like these", n.count-mostAlike)
	}
	j.alike[key] = n
}

// library judges one library and returns it; nil if it cannot be read. The folder is the one in an installation in which it lies.
func (j *judge) library(file, folder string, r io.ReaderAt, size int64) *elfcheck.Library {
	lib, err := elfcheck.Parse(path.Base(file), r, size)
	if err != nil {
		j.add(file, "A009", "build it again, or copy it again", "%v", err)
		return nil
	}
	j.machine(file, lib.Header)
	switch {
	case lib.Program:
		j.add(file, "A001", "link it with -shared", "it is no shared library, but a program")
	case lib.Type != elf.ET_DYN:
		j.add(file, "A001", "link it with -shared", "it is no shared library, but %v", lib.Type)
	}
	j.versions(file, lib)
	foreign := j.needed(file, folder, lib)
	j.search(file, lib)
	j.exports(file, lib)
	counts := j.undefined(file, lib, foreign)
	if lib.ExecutableStack {
		j.add(file, "A008", "assembler sources need a section .note.GNU-stack; -Wl,-z,noexecstack decides for all",
			"it wants to run code on the stack, which newer systems refuse")
	}
	j.report.Libraries = append(j.report.Libraries, Facts{
		File: diag.Printable(file), Name: shown(lib.Name), Machine: lib.Machine, Needed: listed(lib.Needed), Search: listed(lib.Search),
		Versions: highest(lib.Versions), Hosts: counts, Exports: len(lib.Exports), DeviceCode: listed(lib.DeviceCode), Stripped: lib.Stripped,
	})
	return lib
}

// machine reports a library or program for another machine.
func (j *judge) machine(file string, h elfcheck.Header) {
	if h.Machine != machine {
		j.add(file, "A001", "build it on and for "+machine, "it is for %s, and what %s has is known for %s only", h.Machine, j.standard.Name, machine)
	}
}

// program judges a command: it must start, and what it exports is its own affair. A static one has no more to judge than its machine.
func (j *judge) program(file, folder string, r io.ReaderAt, size int64) *elfcheck.Library {
	if header, err := elfcheck.ReadHeader(r); err == nil && header.Machine != machine {
		j.machine(file, header)
		return nil
	}
	lib, err := elfcheck.Parse(path.Base(file), r, size)
	if errors.Is(err, elfcheck.ErrStatic) {
		return nil
	}
	if err != nil {
		j.add(file, "A009", "build it again, or copy it again", "%v", err)
		return nil
	}
	j.versions(file, lib)
	j.needed(file, folder, lib)
	return lib
}

// versions reports versions of symbols that the standard lacks, with the symbols that need them.
func (j *judge) versions(file string, lib *elfcheck.Library) {
	users := map[elfcheck.Need][]string{}
	for _, symbols := range [][]elfcheck.Symbol{lib.Undefined, lib.Weak} {
		for _, s := range symbols {
			if need := (elfcheck.Need{Library: s.Library, Version: s.Version}); !j.standard.Has(s.Version) {
				users[need] = append(users[need], s.Name)
			}
		}
	}
	for _, n := range lib.Versions {
		if !j.standard.Has(n.Version) {
			j.add(file, "A002", "link it with opcast build --portable, or on a system of "+j.standard.Name,
				"it needs %s of %s (%s), which %s lacks", shown(n.Version), shown(n.Library), some(users[n]), j.standard.Name)
		}
	}
}

// needed reports libraries that users may not have, and says whether any may provide symbols that nobody else knows.
func (j *judge) needed(file, folder string, lib *elfcheck.Library) (foreign bool) {
	all := hosts()
	for _, name := range lib.Needed {
		ofHost := slices.ContainsFunc(all, func(h host) bool { return slices.ContainsFunc(h.libraries, begins(name)) })
		lies, inside := j.inside[name]
		switch {
		case slices.Contains(j.standard.Libraries, name) || ofHost:
			continue
		case slices.ContainsFunc(j.rules.Needed, begins(name)) || reached(folder, lib.Search, lies):
		case inside:
			j.add(file, "A003", "link it with -Wl,-rpath,'"+origin(folder, lies[0])+"', or say --allow "+shown(name)+" if the package loads that first",
				"it needs %s, which lies in %s, and its RUNPATH does not lead there", shown(name), shown(lies[0]))
		case strings.HasPrefix(name, "libpython"):
			j.add(file, "A003", "link it without -lpython: the interpreter has these symbols", "it needs %s, which is one interpreter's", shown(name))
		default:
			j.add(file, "A003", "link it statically, or say --allow "+shown(name)+" if users have it",
				"it needs %s, which %s does not have and no framework brings", shown(name), j.standard.Name)
		}
		foreign = true
	}
	return foreign
}

// search reports folders in which other machines have something else, or nothing.
func (j *judge) search(file string, lib *elfcheck.Library) {
	for _, folder := range lib.Search {
		if _, ok := fromOrigin(folder); !ok {
			j.add(file, "A004", "link it without -rpath, or take it out with patchelf --remove-rpath",
				"its RUNPATH or RPATH has \"%s\", a folder of the machine that built it", shown(folder))
		}
	}
}

// exports reports names that other libraries in the process could take for theirs.
func (j *judge) exports(file string, lib *elfcheck.Library) {
	var leaked []string
	known := slices.Concat(entryPoints(), j.rules.Exports)
	for _, name := range lib.Exports {
		if !slices.ContainsFunc(known, begins(name)) {
			leaked = append(leaked, name)
		}
	}
	if len(leaked) > 0 {
		j.add(file, "A005", "compile with -fvisibility=hidden, and link with a version script; --export PREFIX allows names",
			"it exports %s: no entry point of a framework, and another library may have the same name", some(leaked))
	}
}

// undefined reports symbols that nobody defines, and counts the others that are expected from hosts. Where it needs a library that
// nobody knows, that may have the rest.
func (j *judge) undefined(file string, lib *elfcheck.Library, foreign bool) map[string]int {
	counts, unstable, unknown := map[string]int{}, []string(nil), []string(nil)
	all, stable := hosts(), strings.Fields(stableABI)
	slices.Sort(stable)
	for _, s := range lib.Undefined {
		i := slices.IndexFunc(all, func(h host) bool { return slices.ContainsFunc(h.symbols, begins(s.Name)) })
		switch {
		case s.Version != "":
		case i >= 0:
			counts[all[i].name]++
		case strings.HasPrefix(s.Name, "Py") || strings.HasPrefix(s.Name, "_Py"):
			counts["python"]++
			if _, ok := slices.BinarySearch(stable, s.Name); !ok {
				unstable = append(unstable, s.Name)
			}
		default:
			unknown = append(unknown, s.Name)
		}
	}
	if len(unstable) > 0 {
		j.add(file, "A006", "compile with -DPy_LIMITED_API=0x03090000, or go through tvm-ffi",
			"it uses %s, outside the stable ABI of Python 3.9, which binds it to one version of Python", some(unstable))
	}
	if len(unknown) > 0 && !foreign {
		j.add(file, "A007", "link what defines it, or keep it out", "it uses %s, which no library defines that it needs", some(unknown))
	}
	return counts
}

// highest are the highest versions, as they may be shown, by the words before the underscore. Words that are no version, as of "CXXABI_TM_1", are lower
// than numbers.
func highest(needs []elfcheck.Need) map[string]string {
	found := map[string]string{}
	for _, n := range needs {
		word, number, ok := strings.Cut(shown(n.Version), "_")
		if ok && (found[word] == "" || version.Older(found[word], number)) {
			found[word] = number
		}
	}
	return found
}
