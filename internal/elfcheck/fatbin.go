package elfcheck

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// DeviceCode lists the CUDA code in a library, sorted: "sm_90" is machine code for that architecture, "compute_90" code
// that newer ones can take, too. A library without any gives an empty list.
func DeviceCode(path string) (list []string, err error) {
	data, err := Section(path, ".nv_fatbin")
	if err != nil {
		return nil, err
	}
	return fatBinaries(data), nil
}

// deviceCode lists the CUDA code of a file. Where sections are stripped, all of it is searched.
func deviceCode(f *elf.File, r io.ReaderAt, size int64) ([]string, error) {
	section := f.Section(".nv_fatbin")
	switch {
	case len(f.Sections) == 0:
		data := make([]byte, size)
		if _, err := r.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return fatBinaries(data), nil
	case section == nil:
		return nil, nil
	case section.Flags&elf.SHF_COMPRESSED != 0 || section.FileSize > uint64(size):
		return nil, damagedBy("section %s", section.Name)
	}
	data, err := section.Data()
	return fatBinaries(data), err
}

// fatBinaries looks for fat binaries, each of which begins at a multiple of 8.
func fatBinaries(data []byte) []string {
	var found []string
	for len(data) >= minFatHeader {
		if binary.LittleEndian.Uint32(data) != fatMagic {
			data = data[8:]
			continue
		}
		header := max(minFatHeader, int(binary.LittleEndian.Uint16(data[fatHeaderSize:])))
		data = data[min(len(data), header):]
		found = append(found, fatEntries(data)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// fatEntries reads the entries at the beginning of data, up to whatever is none.
func fatEntries(data []byte) (found []string) {
	prefixes := map[uint16]string{kindPTX: "compute_", kindELF: "sm_"}
	for len(data) >= entryArch+4 {
		prefix := prefixes[binary.LittleEndian.Uint16(data[entryKind:])]
		header := uint64(binary.LittleEndian.Uint32(data[entryHeaderSize:]))
		size := binary.LittleEndian.Uint64(data[entrySize:])
		if prefix == "" || header < entryArch+4 || size > uint64(len(data)) || header+size > uint64(len(data)) {
			break
		}
		found = append(found, fmt.Sprint(prefix, binary.LittleEndian.Uint32(data[entryArch:])))
		data = data[header+size:]
	}
	return found
}
