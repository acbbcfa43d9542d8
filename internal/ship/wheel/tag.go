package wheel

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/system/elfcheck"
)

// anyPlatform ends the tag of wheels without machine code.
const anyPlatform = "any"

// standard is the set of systems on which wheels are to work.
const standard = elfcheck.DefaultStandard

// machines are the processors that tags can name.
var machines = map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}

// platform is the tag that a library's own needs justify. Where they exceed the standard, the tag is that of this system, which
// no index accepts, and why says what exceeds it. Provided are libraries that the process has loaded by then.
func platform(library File, provided []string) (tag, why string, err error) {
	l, err := elfcheck.Parse(library.Name, bytes.NewReader(library.Content), int64(len(library.Content)))
	if err != nil {
		return "", "", err
	}
	if !slices.Contains(slices.Collect(maps.Values(machines)), l.Machine) {
		return "", "", wrongMachine(library, l.Machine)
	}
	if why = excess(l, provided); why != "" {
		return "linux_" + l.Machine, why, nil
	}
	return standard + "_" + l.Machine, "", nil
}

func wrongMachine(file File, machine string) error {
	return fmt.Errorf("%s is for %s: expected x86_64 or aarch64", file.Name, machine)
}

// excess says what a library needs beyond the standard: a library, or a version of one. Those of a program are judged alike.
func excess(l *elfcheck.Library, provided []string) string {
	s := elfcheck.FindStandard(standard)
	for _, library := range l.Needed {
		if library != "ld-linux-aarch64.so.1" && !slices.Contains(s.Libraries, library) && !slices.Contains(provided, library) {
			return library
		}
	}
	for _, symbol := range l.Undefined {
		if !s.Has(symbol.Version) {
			return fmt.Sprintf("%s (%s)", symbol.Version, symbol.Name)
		}
	}
	return ""
}

// CheckPrograms says what keeps programs from becoming commands, before anything is built for them.
func CheckPrograms(programs []File) error {
	for i, program := range programs {
		if _, _, err := programPlatform(program); err != nil {
			return err
		}
		if slices.ContainsFunc(programs[:i], func(other File) bool { return other.Name == program.Name }) {
			return fmt.Errorf("two programs are called %s", program.Name)
		}
	}
	return nil
}

// programPlatform is the tag of a program. A static one needs nothing of a system, so it runs with every C library.
func programPlatform(program File) (tag, why string, err error) {
	defer func() { // debug/elf is not hardened against damaged files
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: damaged ELF file: %v", program.Name, r)
		}
	}()
	f, err := elf.NewFile(bytes.NewReader(program.Content))
	if err != nil {
		return "", "", fmt.Errorf("%s is no program for Linux: %w", program.Name, err)
	}
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_DYNAMIC }) {
		return platform(program, nil)
	}
	machine := machines[f.Machine]
	if machine == "" {
		return "", "", wrongMachine(program, f.Machine.String())
	}
	return standard + "_" + machine + ".musllinux_1_1_" + machine, "", nil
}

// Machine is the processor that the distribution is for; empty for one without machine code.
func (d *Distribution) Machine() string {
	for _, machine := range machines {
		if strings.HasSuffix(d.Platform, "_"+machine) {
			return machine
		}
	}
	return ""
}
