package sass

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Kernel is what a kernel takes of a device, as its cubin says.
type Kernel struct {
	// Name is mangled.
	Name string `json:"name"`
	// Registers are those of a thread. Shared is a block's memory in bytes without what is given at the launch; Frame is the local
	// memory of a thread. MaxThreads is the launch bound, 0 if there is none.
	Registers  int `json:"registers"`
	Shared     int `json:"shared"`
	Frame      int `json:"frame"`
	MaxThreads int `json:"max_threads"`
	// Parameters are the sizes of the parameters in order, in bytes.
	Parameters []int `json:"-"`
}

// Attributes in the sections .nv.info and .nv.info.KERNEL. A record has two bytes for its format and its attribute, and two with its
// value or, in the format below, with the number of bytes that follow.
const (
	sized         = 0x04
	maxThreads    = 0x05
	frameSize     = 0x11
	parameterInfo = 0x17
	registerCount = 0x2f
)

// kernels reads what the cubin of a file says of its kernels, in the order of their code.
func kernels(path string) ([]Kernel, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read cubin: %w", err)
	}
	defer func() { _ = file.Close() }() // it was read
	var list []Kernel
	for _, s := range file.Sections {
		if name, isInfo := strings.CutPrefix(s.Name, ".nv.info."); isInfo {
			k := Kernel{Name: name}
			if err := k.read(s); err != nil {
				return nil, err
			}
			if shared := file.Section(".nv.shared." + name); shared != nil {
				k.Shared = int(shared.Size)
			}
			list = append(list, k)
		}
	}
	return list, common(file, list)
}

// common reads what stands in the section for all kernels.
func common(file *elf.File, list []Kernel) error {
	info, symbols := file.Section(".nv.info"), []elf.Symbol(nil)
	if info == nil {
		return nil
	}
	symbols, err := file.Symbols()
	if err != nil {
		return fmt.Errorf("read symbols of a cubin: %w", err)
	}
	return records(info, func(attribute byte, value []byte) {
		if len(value) < 8 || attribute != registerCount && attribute != frameSize {
			return
		}
		symbol, n := binary.LittleEndian.Uint32(value), int(binary.LittleEndian.Uint32(value[4:]))
		if symbol == 0 || int(symbol) > len(symbols) {
			return
		}
		i := slices.IndexFunc(list, func(k Kernel) bool { return k.Name == symbols[symbol-1].Name })
		if i >= 0 && attribute == registerCount {
			list[i].Registers = n
		} else if i >= 0 {
			list[i].Frame = n
		}
	})
}

func (k *Kernel) read(s *elf.Section) error {
	type parameter struct{ ordinal, size int }
	var parameters []parameter
	err := records(s, func(attribute byte, value []byte) {
		switch {
		case attribute == maxThreads && len(value) >= 12:
			k.MaxThreads = 1
			for i := range 3 {
				k.MaxThreads *= int(binary.LittleEndian.Uint32(value[4*i:]))
			}
		case attribute == parameterInfo && len(value) >= 12: // an index, ordinal, offset, and the size above other bits
			parameters = append(parameters, parameter{int(binary.LittleEndian.Uint16(value[4:])), int(binary.LittleEndian.Uint32(value[8:]) >> 18)})
		}
	})
	slices.SortFunc(parameters, func(a, b parameter) int { return a.ordinal - b.ordinal })
	for _, p := range parameters {
		k.Parameters = append(k.Parameters, p.size)
	}
	return err
}

// records calls a function for each record of a section that has a value of several bytes.
func records(s *elf.Section, each func(attribute byte, value []byte)) error {
	data, err := s.Data()
	if err != nil {
		return fmt.Errorf("read %s of a cubin: %w", s.Name, err)
	}
	for in := bytes.NewBuffer(data); in.Len() >= 4; {
		head := in.Next(4)
		if head[0] == sized {
			each(head[1], in.Next(int(binary.LittleEndian.Uint16(head[2:]))))
		}
	}
	return nil
}
