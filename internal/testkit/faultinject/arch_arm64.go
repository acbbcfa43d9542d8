package faultinject

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arch is AUDIT_ARCH_AARCH64; calls of 32-bit programs have other numbers and do not count.
const arch = 0xc00000b7

var nativeEndian = binary.LittleEndian

// olderCalls are those that newer architectures, such as this one, do without.
var olderCalls map[uint64]*call

// skip lets the thread make no call at all, which returns an error.
func skip(tid int, errno syscall.Errno) error {
	number := int32(-1)
	vector := unix.Iovec{Base: (*byte)(unsafe.Pointer(&number)), Len: uint64(unsafe.Sizeof(number))}
	_, _, failed := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SETREGSET, uintptr(tid), unix.NT_ARM_SYSTEM_CALL,
		uintptr(unsafe.Pointer(&vector)), 0, 0)
	if failed != 0 {
		return failed
	}
	return setRegister(tid, 0, -uint64(errno))
}

// setThird changes the call's third argument.
func setThird(tid int, value uint64) error { return setRegister(tid, 2, value) }

func setRegister(tid, i int, value uint64) error {
	var registers unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(tid, unix.NT_PRSTATUS, &registers); err != nil {
		return err
	}
	registers.Regs[i] = value
	return unix.PtraceSetRegSetArm64(tid, unix.NT_PRSTATUS, &registers)
}
