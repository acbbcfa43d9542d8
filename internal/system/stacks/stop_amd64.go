package stacks

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// registers are the program counter and the stack pointer of a thread that is stopped.
func registers(tid int) (pc, sp uint64, err error) {
	var r unix.PtraceRegs
	err = unix.PtraceGetRegs(tid, &r)
	return r.Rip, r.Rsp, err
}

// longestCall is how many bytes before a return address the call can begin.
const longestCall = 7

// callBefore reports whether code, which ends at an address, ends with a call instruction, and where it calls; zero stands for
// any place, since that is in a register or in memory.
func callBefore(code []byte, end uint64) (target uint64, found bool) {
	n := len(code)
	for size := 2; size <= min(n, longestCall); size++ { // call r/m64, with its operand of any length
		if code[n-size] == 0xff && code[n-size+1]>>3&7 == 2 {
			return 0, true
		}
	}
	if n >= 5 && code[n-5] == 0xe8 { // call rel32
		return end + uint64(int64(int32(binary.LittleEndian.Uint32(code[n-4:])))), true
	}
	return 0, false
}
