package elfcheck

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// A fat binary is a header and a row of entries, each with a header and its code. The numbers below are offsets.
const (
	fatMagic      = 0xBA55ED50
	fatHeaderSize = 6 // uint16
	minFatHeader  = 16

	entryKind       = 0  // uint16
	entryHeaderSize = 4  // uint32
	entrySize       = 8  // uint64: bytes of code
	entryArch       = 28 // uint32: 90 for sm_90

	kindPTX, kindELF = 1, 2
)

// DeviceCode lists the code of GPUs in a library, sorted: "sm_90" is machine code for that architecture of CUDA, "compute_90"
// code that newer ones can take, too, and "gfx90a" machine code for one of AMD's. A library without any gives an empty list.
func DeviceCode(path string) (list []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	t, err := readTables(f, info.Size())
	if err == nil {
		list, err = deviceCode(&t, f, info.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return list, nil
}

// The sections with the code of GPUs.
const cudaSection, hipSection = ".nv_fatbin", ".hip_fatbin"

// deviceCode lists the code of GPUs in a file. Where sections are stripped, all of it is searched.
func deviceCode(t *tables, r io.ReaderAt, size int64) (list []string, err error) {
	for name, search := range map[string]func(io.ReaderAt, int64) ([]string, error){cudaSection: fatBinaries, hipSection: gfxCode} {
		part := io.NewSectionReader(r, 0, size)
		if len(t.sections) > 0 {
			if part, err = codeSection(t, r, size, name); part == nil || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		found, err := search(part, part.Size())
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	slices.Sort(list)
	return list, nil
}

// codeSection is the content of a section; nil if there is none.
func codeSection(t *tables, r io.ReaderAt, size int64, name string) (*io.SectionReader, error) {
	section, err := t.section(r, size, name)
	switch {
	case section == nil:
		return nil, err
	case elf.SectionType(section.Type) == elf.SHT_NOBITS:
		return nil, nil //nolint:nilnil // it has no content
	case elf.SectionFlag(section.Flags)&elf.SHF_COMPRESSED != 0 || section.Off > uint64(size) || section.Size > uint64(size)-section.Off:
		return nil, damagedBy("section %s", name)
	}
	return io.NewSectionReader(r, int64(section.Off), int64(section.Size)), nil
}

// gfxCode lists the architectures of the code for AMD's GPUs.
func gfxCode(r io.ReaderAt, size int64) ([]string, error) {
	parts, err := offloadBundles(r, size)
	found := map[string]bool{}
	for _, part := range parts {
		found[part.arch] = true
	}
	return slices.Sorted(maps.Keys(found)), err
}

// fatBinaries looks for fat binaries, each of which begins at a multiple of 8. It holds a part of the code at a time, which may be
// larger than the memory.
func fatBinaries(r io.ReaderAt, size int64) ([]string, error) {
	found := map[string]bool{}
	window := make([]byte, min(size, 1<<20))
	for at := int64(0); size-at >= minFatHeader; {
		part := window[:min(int64(len(window)), size-at)]
		if _, err := r.ReadAt(part, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		i := fatHeader(part)
		if at += int64(i); len(part)-i < minFatHeader {
			continue // the next part begins there; this one was the last if nothing was passed over
		}
		header := max(minFatHeader, int64(binary.LittleEndian.Uint16(part[i+fatHeaderSize:])))
		var err error
		if at, err = fatEntries(r, at+header, size, found); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// fatHeader is the place of the first header in a part, or where the next part has to begin.
func fatHeader(part []byte) int {
	i := 0
	for ; i+minFatHeader <= len(part); i += 8 {
		if binary.LittleEndian.Uint32(part[i:]) == fatMagic {
			break
		}
	}
	return i
}

// manyKinds is more kinds of code than there are: CUDA has had some dozens of architectures.
const manyKinds = 1 << 10

// fatEntries reads the entries from a place on, up to whatever is none, and says where they end.
func fatEntries(r io.ReaderAt, at, size int64, found map[string]bool) (end int64, err error) {
	prefixes := map[uint16]string{kindPTX: "compute_", kindELF: "sm_"}
	entry := make([]byte, entryArch+4)
	for size-at >= int64(len(entry)) {
		if _, err := r.ReadAt(entry, at); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		prefix := prefixes[binary.LittleEndian.Uint16(entry[entryKind:])]
		header := uint64(binary.LittleEndian.Uint32(entry[entryHeaderSize:]))
		code := binary.LittleEndian.Uint64(entry[entrySize:])
		if rest := uint64(size - at); prefix == "" || header < entryArch+4 || code > rest || header+code > rest {
			break
		}
		found[fmt.Sprint(prefix, binary.LittleEndian.Uint32(entry[entryArch:]))] = true
		if len(found) > manyKinds {
			return 0, damagedBy("it has CUDA code for more than %d architectures", manyKinds)
		}
		at += int64(header + code)
	}
	return at, nil
}
