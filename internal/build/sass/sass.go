// Package sass reads the machine code of kernels for NVIDIA's GPUs: the loops of each kernel, and which instructions they run.
//
// It runs nothing on a GPU. Cubins are taken out of object files by cuobjdump and printed by nvdisasm; what a kernel takes of the
// device stands in the cubin's own sections.
package sass

import (
	"strings"
)

// Function is the code of a kernel, with the loops that it has.
type Function struct {
	Kernel
	// Source is the file of the project that was compiled, Arch the architecture, as "sm_90".
	Source string `json:"source"`
	Arch   string `json:"arch"`
	// All counts the whole function, without subroutines. Once counts what lies in no loop.
	All  Mix `json:"all"`
	Once Mix `json:"once"`
	// Loops are in the order of their first instructions; a loop stands before those within it.
	Loops []Loop `json:"loops"`
}

// Loop is a natural loop: the instructions from which its first one can be reached again.
type Loop struct {
	// Begin and End are the addresses of the first and the last instruction.
	Begin int `json:"begin"`
	End   int `json:"end"`
	// Depth is 1 for the outermost. Parent is the index of the loop around it, -1 if there is none.
	Depth  int `json:"depth"`
	Parent int `json:"parent"`
	// Mix counts one iteration in which every branch is taken, without the loops within it; All counts these, too, once each.
	Mix Mix `json:"mix"`
	All Mix `json:"-"`
	// Hot says that most of a kernel's time may be spent here: no loop within it touches global memory or tensor cores, it does, and
	// it does not do what a wider loop before it leaves.
	Hot bool `json:"hot"`
	// Remainder says that it does what a wider loop before it leaves.
	Remainder bool `json:"remainder,omitempty"`
}

// HotLoops are the loops in which the kernel spends its time. A kernel without any that touches global memory is one iteration,
// which is the whole function.
func (f *Function) HotLoops() []Loop {
	var hot []Loop
	for _, l := range f.Loops {
		if l.Hot {
			hot = append(hot, l)
		}
	}
	if hot == nil {
		return []Loop{{Parent: -1, Mix: f.All, All: f.All, Hot: true}}
	}
	return hot
}

// Short is the name of the kernel in its source, without namespaces, template arguments and parameters.
func (f *Function) Short() string { return ShortName(f.Name) }

// ShortName is the last name in a mangled one, before the arguments of a template: RowsKernel in _ZN10opcast_ops10RowsKernelI....
func ShortName(mangled string) string {
	rest, isMangled := strings.CutPrefix(mangled, "_Z")
	if !isMangled {
		return mangled // extern "C"
	}
	short := mangled
	for rest = strings.TrimPrefix(rest, "N"); rest != ""; {
		rest = strings.TrimPrefix(rest, "L") // a name of the file's own
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		length := 0
		for _, c := range rest[:digits] {
			length = length*10 + int(c-'0')
		}
		if length == 0 || digits+length > len(rest) {
			break
		}
		short, rest = rest[digits:digits+length], rest[digits+length:]
		if rest != "" && (rest[0] == 'I' || rest[0] == 'E') {
			break
		}
		if !strings.HasPrefix(mangled, "_ZN") && !strings.HasPrefix(mangled, "_ZNL") {
			break // what follows are the types of its parameters
		}
	}
	return short
}
