package elfcheck

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrStatic says that a file has nothing that a loader links: it is a static program, or an object file.
var ErrStatic = errors.New("no shared library: it has no dynamic section")

// Header is the beginning of an ELF file, which tells what it is.
type Header struct {
	// Machine is the one that it is for, as in the names of wheels: "x86_64".
	Machine string
	// Type tells a shared library from a program and from an object file.
	Type elf.Type
	// wide says that it has 64 bits, lowest byte first.
	wide bool
}

// ReadHeader reads the beginning of a file.
func ReadHeader(r io.ReaderAt) (Header, error) {
	begin := make([]byte, 20)
	n, err := r.ReadAt(begin, 0)
	if n < len(elf.ELFMAG) || string(begin[:len(elf.ELFMAG)]) != elf.ELFMAG {
		return Header{}, errors.New("it is no ELF file")
	}
	if n < len(begin) {
		return Header{}, fmt.Errorf("%w: it ends within its header: %w", errDamaged, err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(begin[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	return Header{
		Machine: machine(elf.Machine(order.Uint16(begin[18:]))), Type: elf.Type(order.Uint16(begin[16:])),
		wide: elf.Class(begin[elf.EI_CLASS]) == elf.ELFCLASS64 && elf.Data(begin[elf.EI_DATA]) == elf.ELFDATA2LSB,
	}, nil
}

// machine is a machine as wheels call it, or else as ELF does.
func machine(m elf.Machine) string {
	names := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_386: "i686", elf.EM_AARCH64: "aarch64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x"}
	if name, ok := names[m]; ok {
		return name
	}
	return strings.TrimPrefix(m.String(), "EM_")
}

// tables are the two lists of parts that an ELF file of 64 bits has. The package debug/elf reads them, too, but keeps the name of
// every section, for which a small file can demand any amount of memory.
type tables struct {
	segments []elf.Prog64
	sections []elf.Section64
	// names is the number of the section with their names.
	names int
}

// readTables reads the tables. Either may be absent.
func readTables(r io.ReaderAt, size int64) (t tables, err error) {
	var h elf.Header64
	if err := binary.Read(io.NewSectionReader(r, 0, size), binary.LittleEndian, &h); err != nil {
		return t, damagedBy("it ends within its header")
	}
	t.segments = make([]elf.Prog64, h.Phnum)
	if err := list(r, size, "segments", h.Phoff, h.Phentsize, t.segments); err != nil {
		return t, err
	}
	t.sections, t.names = make([]elf.Section64, h.Shnum), int(h.Shstrndx)
	if h.Shoff != 0 && h.Shnum == 0 {
		return t, damagedBy("it has more sections than a library")
	}
	return t, list(r, size, "sections", h.Shoff, h.Shentsize, t.sections)
}

// list reads a table, if it has any entry.
func list[T any](r io.ReaderAt, size int64, what string, offset uint64, each uint16, to []T) error {
	if len(to) == 0 {
		return nil
	}
	if binary.Size(to[0]) != int(each) {
		return damagedBy("its %s have descriptions of %d bytes", what, each)
	}
	length := uint64(binary.Size(to))
	if offset > uint64(size) || length > uint64(size)-offset {
		return damagedBy("it ends before the list of its %s", what)
	}
	data := make([]byte, length)
	if _, err := r.ReadAt(data, int64(offset)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return binary.Read(bytes.NewReader(data), binary.LittleEndian, to)
}

// section finds a section by its name.
func (t *tables) section(r io.ReaderAt, size int64, name string) (*elf.Section64, error) {
	if t.names >= len(t.sections) {
		return nil, nil
	}
	names := t.sections[t.names]
	if names.Off > uint64(size) || names.Size > uint64(size)-names.Off {
		return nil, damagedBy("it ends before the names of its sections")
	}
	text := make([]byte, len(name)+1)
	for i := range t.sections {
		s := &t.sections[i]
		if uint64(s.Name)+uint64(len(text)) > names.Size {
			continue
		}
		if _, err := r.ReadAt(text, int64(names.Off+uint64(s.Name))); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if string(text) == name+"\x00" {
			return s, nil
		}
	}
	return nil, nil
}
