// Package stacks tells where the threads of another process are, in the words of native code: which function of a library
// does not return.
//
// It stops each thread for a moment, as a debugger does, and reads its registers and its stack. The process needs to help
// with nothing, so this works for any program that hangs, in any language. There is no unwinding: a word on the stack counts
// as a return address if it points behind an instruction that calls the function which runs then, or any function. Now and
// then such a word is a remnant of a call that has returned; and a function is missing if what it called has jumped to
// another one.
package stacks

import (
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"strings"
)

// exported begins the names of the functions that callers of a library call: what is outside of them does not matter here.
const exported = "__tvm_ffi_"

// deepestShown is the number of frames that are shown of a thread.
const deepestShown = 12

// Of says where the threads of a process are inside of a library, one text for each that is: innermost function first, from
// the one that runs to the library's own export. Threads that compute come before those that wait, and those that are at the
// same place are told once. An error means that nobody may look, as in some containers.
func Of(pid int, library string) ([]string, error) {
	all, err := maps(pid)
	if err != nil {
		return nil, err
	}
	found := threads(pid, all)
	if len(found) == 0 {
		return nil, fmt.Errorf("stacks: no thread of process %d can be stopped", pid)
	}
	slices.SortStableFunc(found, func(a, b thread) int { return order(a.running) - order(b.running) })
	symbols := Open(library)
	var out []string
	for i := range found {
		text := found[i].text(pid, all, library, symbols)
		if text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, nil
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}

// text lists the frames of a thread that are inside of the library; empty if none is. A place where another function was
// called than the one that runs is a remnant.
func (t *thread) text(pid int, all []mapping, library string, symbols *Symbols) string {
	var lines []string
	inside, callee := false, (*elf.Symbol)(nil)
	for i, x := range t.places(pid, all) {
		m := find(all, x.address)
		if m == nil || len(lines) == deepestShown {
			break
		}
		if !Same(m.path, library) {
			if i == 0 { // such as a function of libc that the kernel calls
				lines = append(lines, outside(m, x.address))
			}
			continue
		}
		at, ok := symbols.address(m.offsetOf(x.address))
		if !ok || callee != nil && x.target != 0 && !symbols.calls(m, x.target, callee) {
			continue
		}
		inside, callee = true, symbols.function(at)
		lines = append(lines, symbols.Name(at))
		if callee != nil && strings.HasPrefix(callee.Name, exported) {
			break
		}
	}
	if !inside {
		return ""
	}
	return "  " + strings.Join(lines, "\n  ")
}

// offsetOf is the place of an address in the file of a mapping.
func (m *mapping) offsetOf(address uint64) uint64 { return address - m.start + m.offset }

// calls reports whether a call of an address in the memory of a process leads to a function of the library. Other libraries may
// replace what a library exports, so that is called through a stub, which has no name.
func (s *Symbols) calls(m *mapping, address uint64, callee *elf.Symbol) bool {
	at, ok := s.address(m.offsetOf(address))
	if !ok {
		return false
	}
	if found := s.function(at); found != nil {
		return found.Value == callee.Value
	}
	return elf.ST_BIND(callee.Info) != elf.STB_LOCAL
}

// outside names a function of another file.
func outside(m *mapping, address uint64) string {
	if m.path == "" {
		return fmt.Sprintf("%#x", address)
	}
	s := Open(m.path)
	if at, ok := s.address(m.offsetOf(address)); ok {
		return s.Name(at)
	}
	return m.path
}

// Same reports whether two paths are those of one file.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	if a == "" || !strings.HasSuffix(a, "/"+b[strings.LastIndex(b, "/")+1:]) {
		return false
	}
	first, err := os.Stat(a)
	second, errB := os.Stat(b)
	return err == nil && errB == nil && os.SameFile(first, second)
}
