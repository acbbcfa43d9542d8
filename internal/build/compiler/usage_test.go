package compiler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What ptxas says belongs to the kernel before it; functions that a kernel calls are not it.
func TestParseUsages(t *testing.T) {
	const text = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z3addPf' for 'sm_80'
ptxas info    : Function properties for _Z3addPf
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 22 registers, used 1 barriers, 8 bytes cumulative stack size, 384 bytes smem, 392 bytes cmem[0]
ptxas info    : Compile time = 4.000 ms
ptxas info    : Function properties for __divide
    96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function '_Z3mulPf' for 'sm_80'
ptxas info    : Function properties for _Z3mulPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 7 registers, 360 bytes cmem[0]
`
	want := []Usage{
		{Arch: "sm_80", Kernel: "_Z3addPf", Registers: 22, Local: 8, SpillStores: 12, SpillLoads: 16, Shared: 384},
		{Arch: "sm_80", Kernel: "_Z3mulPf", Registers: 7},
	}
	if diff := cmp.Diff(want, ParseUsages(text)); diff != "" {
		t.Errorf("usages (-want +got):\n%s", diff)
	}
}
