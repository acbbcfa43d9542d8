package wheel

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// anyPlatform ends the tag of wheels without machine code.
const anyPlatform = "any"

// policy is the platform whose promises a wheel makes: the newest version of each family of symbols that it may need, and the
// libraries that every machine of it has.
var policy = struct {
	name     string
	versions map[string]string
	needed   []string
}{
	name:     "manylinux_2_28",
	versions: map[string]string{"GLIBC": "2.28", "GLIBCXX": "3.4.24", "CXXABI": "1.3.11", "GCC": "7.0.0"},
	needed: []string{
		"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6",
		"libpthread.so.0", "librt.so.1", "libstdc++.so.6",
	},
}

// machines are the names of processors in tags.
var machines = map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}

// platform is the tag that a library's own needs justify. Where they exceed the policy, the tag is that of this system, which
// no index accepts, and why says what exceeds it. Provided are libraries that the process has loaded by then.
func platform(library File, provided []string) (tag, why string, err error) {
	defer func() { // debug/elf is not hardened against damaged files
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: damaged ELF file: %v", library.Name, r)
		}
	}()
	f, err := elf.NewFile(bytes.NewReader(library.Content))
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", library.Name, err)
	}
	machine := machines[f.Machine]
	if machine == "" {
		return "", "", fmt.Errorf("%s is for %s: expected x86_64 or aarch64", library.Name, f.Machine)
	}
	why, err = excess(f, provided)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", library.Name, err)
	}
	if why != "" {
		return "linux_" + machine, why, nil
	}
	return policy.name + "_" + machine, "", nil
}

// excess says what a library needs beyond the policy: a library, or a version of one.
func excess(f *elf.File, provided []string) (string, error) {
	needed, err := f.ImportedLibraries()
	if err != nil {
		return "", err
	}
	for _, library := range needed {
		if !slices.Contains(policy.needed, library) && !slices.Contains(provided, library) {
			return library, nil
		}
	}
	symbols, err := f.ImportedSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) { // a static program has none
		return "", err
	}
	worst, most := "", ""
	for _, s := range symbols {
		family, version, versioned := strings.Cut(s.Version, "_")
		limit, limited := policy.versions[family]
		if versioned && limited && compareVersions(version, limit) > 0 && compareVersions(version, most) > 0 {
			worst, most = s.Version+" ("+s.Name+")", version
		}
	}
	return worst, nil
}

// compareVersions orders dotted numbers.
func compareVersions(a, b string) int {
	return slices.Compare(numbers(a), numbers(b))
}

func numbers(version string) (list []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // what is no number, such as PRIVATE, is in no policy
		list = append(list, n)
	}
	return list
}

// programPlatform is the tag of a program. A static one needs nothing of a system, so it runs with every C library.
func programPlatform(program File) (tag, why string, err error) {
	if tag, why, err = platform(program, nil); err != nil || why != "" {
		return tag, why, err
	}
	f, err := elf.NewFile(bytes.NewReader(program.Content))
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", program.Name, err)
	}
	if !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		tag += ".musllinux_1_1_" + machines[f.Machine]
	}
	return tag, "", nil
}
