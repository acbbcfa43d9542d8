package stacks

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// registers are the program counter and the stack pointer of a thread that is stopped.
func registers(tid int) (pc, sp uint64, err error) {
	var r unix.PtraceRegs
	err = unix.PtraceGetRegs(tid, &r)
	return r.Pc, r.Sp, err
}

// longestCall is how many bytes before a return address the call can begin.
const longestCall = 4

// callBefore reports whether code, which ends at an address, ends with a call instruction, and where it calls; zero stands for
// any place, since that is in a register.
func callBefore(code []byte, end uint64) (target uint64, found bool) {
	if len(code) < longestCall {
		return 0, false
	}
	word := binary.LittleEndian.Uint32(code[len(code)-4:])
	if word>>26 == 0x25 { // bl, whose operand counts instructions from itself
		return end - 4 + uint64(int64(int32(word<<6))>>6*4), true
	}
	return 0, word&0xfffffc1f == 0xd63f0000 // blr
}
