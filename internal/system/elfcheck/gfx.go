package elfcheck

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// GFXKernel is a kernel in the code of AMD's GPUs, as its metadata describe it.
type GFXKernel struct {
	// Arch is the architecture, Name the mangled name of the function.
	Arch, Name string
	// Registers are those of a thread, Scalars those that its wavefront shares. Scratch is a thread's memory in bytes beside them,
	// for arrays that are indexed and for the Spilled registers that did not suffice. Of scalars, those lie in registers.
	Registers, Scalars, Scratch, Spilled int
	// Shared is the block's shared memory in bytes, without what is given when it starts; Code are the bytes of the function.
	Shared, Code int
}

// GFXKernels lists the kernels for AMD's GPUs in a library or an object file that a build has made.
func GFXKernels(path string) (list []GFXKernel, err error) {
	content, err := Section(path, hipSection)
	if err != nil {
		return nil, err
	}
	parts, err := offloadBundles(bytes.NewReader(content), int64(len(content)))
	for _, part := range parts {
		found, err := gfxKernels(part.arch, content[part.at:part.at+part.size])
		if err != nil {
			return nil, fmt.Errorf("read the code for %s in %s: %w", part.arch, path, err)
		}
		list = append(list, found...)
	}
	return list, err
}

// gfxKernels reads a code object, which is an ELF file with a note.
func gfxKernels(arch string, code []byte) (list []GFXKernel, err error) {
	file, err := elf.NewFile(bytes.NewReader(code))
	if err != nil {
		return nil, err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	sizes := map[string]int{}
	for _, s := range symbols {
		sizes[s.Name] = int(s.Size)
	}
	metadata, err := gfxMetadata(file)
	if err != nil {
		return nil, err
	}
	kernels, _ := metadata["amdhsa.kernels"].([]any)
	for _, k := range kernels {
		kernel, _ := k.(map[string]any)
		number := func(key string) int {
			n, _ := kernel[key].(int64)
			return int(n)
		}
		name, _ := kernel[".name"].(string)
		list = append(list, GFXKernel{
			Arch: arch, Name: name, Registers: number(".vgpr_count"), Scalars: number(".sgpr_count"),
			Scratch: number(".private_segment_fixed_size"), Spilled: number(".vgpr_spill_count"),
			Shared: number(".group_segment_fixed_size"), Code: sizes[name],
		})
	}
	return list, nil
}

// metadataNote is the type of the note with a code object's metadata, which are written in MessagePack.
const metadataNote = 32

func gfxMetadata(file *elf.File) (map[string]any, error) {
	section := file.Section(".note")
	if section == nil {
		return nil, damagedBy("it has no notes")
	}
	note, err := section.Data()
	if err != nil {
		return nil, err
	}
	const header = 12 // lengths of the name and of the description, and the type
	padded := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
	for len(note) >= header {
		name, length := binary.LittleEndian.Uint32(note), binary.LittleEndian.Uint32(note[4:])
		kind := binary.LittleEndian.Uint32(note[8:])
		begin, end := header+padded(name), header+padded(name)+padded(length)
		if end > uint64(len(note)) {
			break
		}
		if kind == metadataNote {
			r := packed{rest: note[begin : begin+uint64(length)]}
			value, err := r.value(0)
			if metadata, ok := value.(map[string]any); ok || err != nil {
				return metadata, err
			}
		}
		note = note[end:]
	}
	return nil, damagedBy("it has no metadata")
}
