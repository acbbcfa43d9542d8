package compiler

import (
	"debug/elf"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Usage is what one kernel function takes of a GPU of one architecture, as the CUDA compiler says, or the code for AMD's.
type Usage struct {
	// Source is the file, Arch the architecture ("sm_80", "gfx90a"), Kernel the function.
	Source, Arch, Kernel string
	// Registers are those of a thread, Scalars those that threads of AMD's GPUs share. Local is a thread's memory in bytes beside
	// them, for arrays that are indexed and for registers that did not suffice; spilling those writes SpillStores and reads
	// SpillLoads bytes, or concerns so many Spilled registers.
	Registers, Scalars, Local, SpillStores, SpillLoads, Spilled int
	// Shared is the block's shared memory in bytes, without what is given when it starts.
	Shared int
	// Instructions are those of the whole function, with some that fill it up; AMD's differ in length, which is in Bytes.
	Instructions, Bytes int
}

// What ptxas -v says of a kernel, in this order; functions that a kernel calls have properties, too, but no entry.
var (
	entryLine     = regexp.MustCompile(`Compiling entry function '(\S+)' for '(\w+)'`)
	functionLine  = regexp.MustCompile(`Function properties for (\S+)`)
	localLine     = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	registersLine = regexp.MustCompile(`Used (\d+) registers`)
	sharedWords   = regexp.MustCompile(`(\d+) bytes smem`)
)

// ParseUsages reads the words of ptxas. The kernels' names are mangled.
func ParseUsages(text string) (list []Usage) {
	number := func(word string) int {
		n, _ := strconv.Atoi(word) // digits
		return n
	}
	function := ""
	for line := range strings.Lines(text) {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			list = append(list, Usage{Kernel: m[1], Arch: m[2]})
			continue
		}
		if len(list) == 0 {
			continue
		}
		last := &list[len(list)-1]
		if m := functionLine.FindStringSubmatch(line); m != nil {
			function = m[1]
		} else if m := localLine.FindStringSubmatch(line); m != nil && function == last.Kernel {
			last.Local, last.SpillStores, last.SpillLoads = number(m[1]), number(m[2]), number(m[3])
		} else if m := registersLine.FindStringSubmatch(line); m != nil {
			last.Registers = number(m[1])
			if m := sharedWords.FindStringSubmatch(line); m != nil {
				last.Shared = number(m[1])
			}
		}
	}
	return list
}

// instructionSize is that of the machine code since sm_70, in bytes.
const instructionSize = 16

// CountInstructions looks the kernels up in a file of machine code.
func CountInstructions(list []Usage, name string) error {
	file, err := elf.Open(name)
	if err != nil {
		return err
	}
	for i := range list {
		section := file.Section(".text." + list[i].Kernel)
		if section == nil {
			return errors.Join(fmt.Errorf("no code of %s", list[i].Kernel), file.Close())
		}
		list[i].Instructions = int(section.Size / instructionSize)
	}
	return file.Close()
}
