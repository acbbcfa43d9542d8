package stacks

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mapping is a part of a file in the memory of a process.
type mapping struct {
	start, end, offset uint64
	executable         bool
	path               string
}

// maps reads the memory map of a process.
func maps(pid int) ([]mapping, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, fmt.Errorf("stacks: %w", err)
	}
	var out []mapping
	for line := range strings.Lines(string(text)) {
		var m mapping
		var mode, device string
		var inode uint64
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x %s %d", &m.start, &m.end, &mode, &m.offset, &device, &inode); n != 6 {
			continue
		}
		m.executable = strings.Contains(mode, "x")
		if i := strings.Index(line, "/"); i >= 0 {
			m.path = strings.TrimSuffix(strings.TrimSpace(line[i:]), " (deleted)")
		}
		out = append(out, m)
	}
	return out, nil
}

// find is the mapping of an address; nil where there is none.
func find(all []mapping, address uint64) *mapping {
	i, found := slices.BinarySearchFunc(all, address, func(m mapping, a uint64) int {
		switch {
		case a < m.start:
			return 1
		case a >= m.end:
			return -1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &all[i]
}

// thread is what was read of a thread while it was stopped.
type thread struct {
	id      int
	running bool
	pc, sp  uint64
	stack   []byte
}

// deepest is how much of a stack is read: the innermost frames are at its beginning.
const deepest = 256 << 10

// threads stops the threads of a process, one after the other, and reads where they are. Those that cannot be stopped are
// left out: they may just have ended.
func threads(pid int, all []mapping) (out []thread) {
	runtime.LockOSThread() // the kernel knows a tracer by its thread
	defer runtime.UnlockOSThread()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, task := range tasks {
		id, err := strconv.Atoi(filepath.Base(task))
		if err != nil {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(task, "stat"))
		t := thread{id: id, running: running(string(status))}
		if t.stop(all) == nil {
			out = append(out, t)
		}
	}
	return out
}

// running reads the state out of /proc/PID/task/TID/stat, where it follows the name in parentheses.
func running(stat string) bool {
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	return len(fields) > 0 && fields[0] == "R"
}

// stop stops a thread for as long as its registers and its stack are read.
func (t *thread) stop(all []mapping) error {
	if err := unix.PtraceAttach(t.id); err != nil {
		return fmt.Errorf("stacks: %w", err)
	}
	defer func() { _ = unix.PtraceDetach(t.id) }() // it may have been killed meanwhile
	var status unix.WaitStatus
	if _, err := unix.Wait4(t.id, &status, unix.WALL, nil); err != nil {
		return fmt.Errorf("stacks: %w", err)
	}
	var err error
	if t.pc, t.sp, err = registers(t.id); err != nil {
		return fmt.Errorf("stacks: %w", err)
	}
	if m := find(all, t.sp); m != nil {
		t.stack = read(t.id, t.sp, min(m.end-t.sp, deepest))
	}
	return nil
}

// read reads memory of a process; nothing where it cannot.
func read(pid int, from, size uint64) []byte {
	if size == 0 {
		return nil
	}
	data := make([]byte, size)
	local := []unix.Iovec{{Base: &data[0], Len: size}}
	remote := []unix.RemoteIovec{{Base: uintptr(from), Len: int(size)}}
	n, err := unix.ProcessVMReadv(pid, local, remote, 0)
	if err != nil {
		return nil
	}
	return data[:n]
}

// place is an address in code. The function that was called there begins at target; zero means that nobody knows.
type place struct{ address, target uint64 }

// places are where the thread is and where it may return to, innermost first.
func (t *thread) places(pid int, all []mapping) []place {
	out := []place{{address: t.pc}}
	for at := 0; at+8 <= len(t.stack); at += 8 {
		address := binary.LittleEndian.Uint64(t.stack[at:])
		m := find(all, address)
		if m == nil || !m.executable || address-m.start < longestCall {
			continue
		}
		if target, found := callBefore(read(pid, address-longestCall, longestCall), address); found {
			out = append(out, place{address - 1, target}) // in the call, and not behind it
		}
	}
	return out
}
