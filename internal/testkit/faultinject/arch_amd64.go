package faultinject

import (
	"encoding/binary"
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// arch is AUDIT_ARCH_X86_64; calls of 32-bit programs have other numbers and do not count.
const arch = 0xc000003e

var nativeEndian = binary.LittleEndian

// olderCalls are those that newer architectures do without.
var olderCalls = map[uint64]*call{
	unix.SYS_OPEN:      {name: "open", paths: [][2]int{{-1, 0}}, flags: 1},
	unix.SYS_CREAT:     {name: "creat", paths: [][2]int{{-1, 0}}},
	unix.SYS_RENAME:    {name: "rename", paths: [][2]int{{-1, 1}, {-1, 0}}},
	unix.SYS_LINK:      {name: "link", paths: [][2]int{{-1, 1}}},
	unix.SYS_SYMLINK:   {name: "symlink", paths: [][2]int{{-1, 1}}},
	unix.SYS_MKDIR:     {name: "mkdir", paths: [][2]int{{-1, 0}}},
	unix.SYS_MKNOD:     {name: "mknod", paths: [][2]int{{-1, 0}}},
	unix.SYS_UNLINK:    {name: "unlink", paths: [][2]int{{-1, 0}}, frees: true},
	unix.SYS_RMDIR:     {name: "rmdir", paths: [][2]int{{-1, 0}}, frees: true},
	unix.SYS_CHMOD:     {name: "chmod", paths: [][2]int{{-1, 0}}, frees: true},
	unix.SYS_CHOWN:     {name: "chown", paths: [][2]int{{-1, 0}}, frees: true},
	unix.SYS_LCHOWN:    {name: "lchown", paths: [][2]int{{-1, 0}}, frees: true},
	unix.SYS_UTIME:     {name: "utime", paths: [][2]int{{-1, 0}}, frees: true},
	unix.SYS_UTIMES:    {name: "utimes", paths: [][2]int{{-1, 0}}, frees: true},
	unix.SYS_FUTIMESAT: {name: "futimesat", paths: [][2]int{{0, 1}}, frees: true},
}

// Offsets in the registers of a stopped thread (struct user_regs_struct): the call's number, its third argument, its
// result.
const (
	originalRAX = 15 * 8
	rdx         = 12 * 8
	rax         = 10 * 8
)

// skip lets the thread make no call at all, which returns an error.
func skip(tid int, errno syscall.Errno) error {
	return errors.Join(poke(tid, originalRAX, ^uint64(0)), poke(tid, rax, -uint64(errno)))
}

// setThird changes the call's third argument.
func setThird(tid int, value uint64) error { return poke(tid, rdx, value) }

func poke(tid int, offset uintptr, value uint64) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_POKEUSR, uintptr(tid), offset, uintptr(value), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
