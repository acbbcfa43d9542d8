package build

import "golang.org/x/sys/cpu"

// narrowest is this machine's instruction set, as parallel.h calls it: nothing narrower is needed here.
func narrowest() string {
	x86 := &cpu.X86
	switch {
	case x86.HasAVX512F && x86.HasAVX512BW && x86.HasAVX512DQ && x86.HasAVX512VL:
		return "kAvx512"
	case x86.HasAVX2 && x86.HasFMA:
		return "kAvx2"
	default:
		return "kBaseline"
	}
}
