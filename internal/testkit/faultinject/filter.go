package faultinject

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// become turns this process into the command, after it got a filter that stops it, and all processes that it starts, at the
// calls that may change files. Stops at all calls would make a compiler several times slower.
func become(path string, args []string) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	program := filter()
	all := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&all)), 0, 0)
	if err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	err = syscall.Exec(path, args, without(os.Environ(), tracedVariable))
	return fmt.Errorf("start %s: %w", path, err)
}

// Offsets in the kernel's struct seccomp_data.
const numberOffset, archOffset = 0, 4

// filter is a program of the kernel's packet filter: it compares the call's number with each of those that change files.
func filter() []unix.SockFilter {
	numbers := slices.Sorted(maps.Keys(calls))
	numbers = append(numbers, slices.Sorted(maps.Keys(olderCalls))...)
	const load, compare, end = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{
		{Code: load, K: archOffset},
		{Code: compare, K: arch, Jf: uint8(len(numbers) + 1)},
		{Code: load, K: numberOffset},
	}
	for i, n := range numbers {
		program = append(program, unix.SockFilter{Code: compare, K: uint32(n), Jt: uint8(len(numbers) - i)})
	}
	return append(program, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_TRACE})
}
