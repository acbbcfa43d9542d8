// Package sass reads the machine code of kernels for NVIDIA's GPUs: the loops of each kernel, and which instructions they run.
//
// It runs nothing on a GPU. Cubins are taken out of object files by cuobjdump and printed by nvdisasm; what a kernel takes of the
// device stands in the cubin's own sections.
package sass

import (
	"regexp"
	"strconv"
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

// Instruction is one line of nvdisasm.
type Instruction struct {
	Address int
	// Guard is the predicate under which it runs, as "@!P0"; empty if it always runs.
	Guard string
	// Op is the mnemonic with its modifiers, as "LDG.E.128"; Args is what follows.
	Op, Args string
	// Targets are the labels that it names.
	Targets []string
}

// Base is the mnemonic without modifiers.
func (i *Instruction) Base() string {
	base, _, _ := strings.Cut(i.Op, ".")
	return base
}

// Has says whether the mnemonic has a modifier.
func (i *Instruction) Has(modifier string) bool {
	return strings.Contains(i.Op+".", "."+modifier+".")
}

// listing is the code of a function, and where its labels stand: the index of the instruction behind each.
type listing struct {
	name   string
	code   []Instruction
	labels map[string]int
}

var (
	sectionLine     = regexp.MustCompile(`^\.text\.(\S+):$`)
	labelLine       = regexp.MustCompile(`^(\S+):$`)
	instructionLine = regexp.MustCompile(`^\s*/\*([0-9a-f]+)\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z]\S*)\s*(.*?)\s*;`)
	targetWord      = regexp.MustCompile("`\\(([^)]+)\\)|(\\.L_x_\\d+)")
)

// parse reads what nvdisasm -c prints.
func parse(text string) (list []*listing) {
	var now *listing
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			now = &listing{name: m[1], labels: map[string]int{}}
			list = append(list, now)
			continue
		}
		if now == nil {
			continue
		}
		if m := labelLine.FindStringSubmatch(line); m != nil {
			now.labels[m[1]] = len(now.code)
			continue
		}
		if m := instructionLine.FindStringSubmatch(line); m != nil {
			address, _ := strconv.ParseInt(m[1], 16, 64) // digits
			i := Instruction{Address: int(address), Guard: m[2], Op: m[3], Args: m[4]}
			for _, t := range targetWord.FindAllStringSubmatch(line, -1) {
				i.Targets = append(i.Targets, t[1]+t[2])
			}
			now.code = append(now.code, i)
		}
	}
	return list
}
