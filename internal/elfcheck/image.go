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
	segments []elf.ProgHeader
	// dynamic are the entries of the dynamic section, in their order.
	dynamic []elf.Dyn64
	strings names
}

// errDamaged says that a file contradicts itself.
var errDamaged = errors.New("damaged ELF file")

func damagedBy(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}

// newImage reads the dynamic section, and where the segments lie.
func newImage(f *elf.File, r io.ReaderAt, size int64) (*image, error) {
	m := &image{r: r, size: uint64(size)}
	var dynamic *elf.ProgHeader
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			if p.Off > m.size || p.Filesz > m.size-p.Off {
				return nil, damagedBy("it ends within a segment")
			}
			m.segments = append(m.segments, p.ProgHeader)
		case elf.PT_DYNAMIC:
			dynamic = &p.ProgHeader
		}
	}
	if dynamic == nil {
		return nil, errors.New("no shared library: it has no dynamic section")
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
		m.dynamic = append(m.dynamic, d)
	}
	text, err := m.at(m.value(elf.DT_STRTAB), m.value(elf.DT_STRSZ))
	if err != nil {
		return nil, err
	}
	m.strings = newNames(text)
	return m, nil
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
	for _, d := range m.dynamic {
		if elf.DynTag(d.Tag) != tag {
			continue
		}
		text, err := m.strings.at(d.Val)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// at reads n bytes from an address of the loaded library.
func (m *image) at(address, n uint64) ([]byte, error) {
	for _, s := range m.segments {
		if address < s.Vaddr || address-s.Vaddr > s.Filesz || n > s.Filesz-(address-s.Vaddr) {
			continue
		}
		data := make([]byte, n) // not more than the file has, since the segment lies in it
		if _, err := m.r.ReadAt(data, int64(s.Off+address-s.Vaddr)); err != nil && (!errors.Is(err, io.EOF) || n > 0) {
			return nil, err
		}
		return data, nil
	}
	return nil, damagedBy("%d bytes at %#x lie in no segment", n, address)
}

// table reads n entries of a size.
func (m *image) table(address, n, size uint64) ([]byte, error) {
	if n > math.MaxInt64/size {
		return nil, damagedBy("a table of %d entries", n)
	}
	return m.at(address, n*size)
}

// names is a table of strings, with the places at which they end.
type names struct {
	text string
	ends []int
}

func newNames(text []byte) names {
	n := names{text: string(text)}
	for i, c := range text {
		if c == 0 {
			n.ends = append(n.ends, i)
		}
	}
	return n
}

// at is the string that begins at an offset.
func (n names) at(offset uint64) (string, error) {
	if offset >= uint64(len(n.text)) {
		return "", damagedBy("a name at %#x of %d bytes", offset, len(n.text))
	}
	i, _ := slices.BinarySearch(n.ends, int(offset))
	if i == len(n.ends) {
		return "", damagedBy("a name that does not end")
	}
	return n.text[offset:n.ends[i]], nil
}
