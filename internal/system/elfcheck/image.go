package elfcheck

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// image is a library as the loader sees it: by its segments. Sections, which debuggers and linkers read, may be stripped from a
// library, or say something else.
//
// Whatever a file says, nothing is read beyond its end, and memory is taken in proportion to its size only.
type image struct {
	r        io.ReaderAt
	size     uint64
	segments []elf.Prog64
	// dynamic are the entries of the dynamic section, in their order.
	dynamic []elf.Dyn64
	strings names
}

// errDamaged says that a file contradicts itself.
var errDamaged = errors.New("damaged ELF file")

func damagedBy(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}

// most is the number of entries of a dynamic section; real ones have some dozens.
const most = 1 << 16

// newImage reads the dynamic section, and where the segments lie.
func newImage(segments []elf.Prog64, r io.ReaderAt, size int64) (*image, error) {
	m := &image{r: r, size: uint64(size)}
	var dynamic *elf.Prog64
	for i, p := range segments {
		switch elf.ProgType(p.Type) {
		case elf.PT_LOAD:
			if p.Off > m.size || p.Filesz > m.size-p.Off {
				return nil, damagedBy("it ends within a segment")
			}
			m.segments = append(m.segments, p)
		case elf.PT_DYNAMIC:
			dynamic = &segments[i]
		}
	}
	if dynamic == nil {
		return nil, ErrStatic
	}
	table, err := m.at(dynamic.Vaddr, dynamic.Filesz)
	if err != nil {
		return nil, err
	}
	for ; len(table) >= 16; table = table[16:] {
		d := elf.Dyn64{Tag: int64(binary.LittleEndian.Uint64(table)), Val: binary.LittleEndian.Uint64(table[8:])}
		if elf.DynTag(d.Tag) == elf.DT_NULL {
			break
		}
		if m.dynamic = append(m.dynamic, d); len(m.dynamic) > most {
			return nil, damagedBy("its dynamic section has more than %d entries", most)
		}
	}
	m.strings.r, m.strings.size = r, m.value(elf.DT_STRSZ)
	m.strings.offset, err = m.place(m.value(elf.DT_STRTAB), m.strings.size)
	return m, err
}

// value is that of an entry of the dynamic section, 0 if there is none.
func (m *image) value(tag elf.DynTag) uint64 {
	for _, d := range slices.Backward(m.dynamic) { // the loader takes the last one
		if elf.DynTag(d.Tag) == tag {
			return d.Val
		}
	}
	return 0
}

// texts are the strings of all entries of a kind.
func (m *image) texts(tag elf.DynTag) (texts []string, err error) {
	const longest = longestName // of all of them, which a library may list in pieces
	total := 0
	for _, d := range m.dynamic {
		if elf.DynTag(d.Tag) != tag {
			continue
		}
		text, err := m.strings.at(d.Val)
		if err != nil {
			return nil, err
		}
		if total += len(text); total > longest {
			return nil, damagedBy("the names of %v have more than %d MiB", tag, longest>>20)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// place is where n bytes from an address of the loaded library lie in the file.
func (m *image) place(address, n uint64) (uint64, error) {
	for _, s := range m.segments {
		if address >= s.Vaddr && address-s.Vaddr <= s.Filesz && n <= s.Filesz-(address-s.Vaddr) {
			return s.Off + address - s.Vaddr, nil
		}
	}
	return 0, damagedBy("%d bytes at %#x lie in no segment", n, address)
}

// at reads n bytes from an address of the loaded library.
func (m *image) at(address, n uint64) ([]byte, error) {
	offset, err := m.place(address, n)
	if err != nil {
		return nil, err
	}
	data := make([]byte, n) // not more than the file has, since the segment lies in it
	if _, err := m.r.ReadAt(data, int64(offset)); err != nil && (!errors.Is(err, io.EOF) || n > 0) {
		return nil, err
	}
	return data, nil
}

// each reads n entries of a size, a part of them at a time, and hands each to a function.
func (m *image) each(address, n, size uint64, do func(i uint64, entry []byte) error) error {
	if n > math.MaxInt64/size {
		return damagedBy("a table of %d entries", n)
	}
	if _, err := m.place(address, n*size); err != nil {
		return err
	}
	const atOnce = 1 << 12
	for i := uint64(0); i < n; i += atOnce {
		part, err := m.at(address+i*size, min(atOnce, n-i)*size)
		if err != nil {
			return err
		}
		for j := i; len(part) > 0; j, part = j+1, part[size:] {
			if err := do(j, part[:size]); err != nil {
				return err
			}
		}
	}
	return nil
}
