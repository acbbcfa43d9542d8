package python

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
)

// Scratch is memory for a kernel to work in. An adaptor allocates it in the way of its framework, and only where a
// kernel for the device takes it.

// takesScratch says whether some kernel for a device works in the op's scratch.
func takesScratch(op *opdef.Op, device string) bool {
	return slices.ContainsFunc(op.KernelList(), func(k opdef.Kernel) bool { return k.Device == device && k.Scratch })
}

// noScratch is the statement that leaves all scratch out.
func (v *function) noScratch() string {
	return strings.Join(opdef.ArgNames(v.Scratch), " = ") + " = None"
}
