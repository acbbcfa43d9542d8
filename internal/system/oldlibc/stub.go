package oldlibc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
)

// The sections of a stub, by their numbers; the names stand in shstrtab.
const (
	secNull = iota
	secDynsym
	secDynstr
	secVersym
	secVerdef
	secDynamic
	secText
	secBSS
	secNames
	sectionCount
)

// sectionNames are the names of the sections, in their order.
var sectionNames = [sectionCount]string{
	"", ".dynsym", ".dynstr", ".gnu.version", ".gnu.version_d", ".dynamic", ".text", ".bss", ".shstrtab",
}

// step is the distance of the addresses of two functions: no two symbols of a library may be the same to a linker.
const step = 16

// image is a shared library in the making. It is what a linker looks at, and no loader will ever see it: it has no segments, and
// its code and data take no room in the file.
type image struct {
	strings, names                  table
	symbols, versym, verdef, dynset bytes.Buffer
	text, bss                       uint64
}

// table is a table of strings.
type table struct{ bytes.Buffer }

func (t *table) add(s string) uint32 {
	if t.Len() == 0 {
		t.WriteByte(0)
	}
	if s == "" {
		return 0
	}
	offset := t.Len()
	t.WriteString(s)
	t.WriteByte(0)
	return uint32(offset)
}

// put writes a value as it stands in an ELF file of x86_64. Writing fixed-size values to memory cannot fail.
func put(to *bytes.Buffer, value any) { _ = binary.Write(to, binary.LittleEndian, value) }

// stub is a shared library of a name with these symbols, each of which has the version that linkers take. The same symbols give
// the same bytes.
func stub(name string, symbols []symbol) []byte {
	slices.SortFunc(symbols, func(a, b symbol) int { return strings.Compare(a.name, b.name) })
	var versions []string
	for _, s := range symbols {
		versions = append(versions, s.version)
	}
	slices.SortFunc(versions, strings.Compare)
	versions = slices.Compact(versions)
	var m image
	m.defineVersions(append([]string{name}, versions...))
	put(&m.symbols, elf.Sym64{})
	put(&m.versym, uint16(0))
	for _, s := range symbols {
		i, _ := slices.BinarySearch(versions, s.version)
		m.define(s, uint16(i+2))
	}
	put(&m.dynset, elf.Dyn64{Tag: int64(elf.DT_SONAME), Val: uint64(m.strings.add(name))})
	put(&m.dynset, elf.Dyn64{})
	return m.bytes(uint32(len(versions) + 1))
}

// define adds a symbol.
func (m *image) define(s symbol, version uint16) {
	sym := elf.Sym64{Name: m.strings.add(s.name), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: secText, Value: m.text, Size: step}
	if s.object {
		sym.Info, sym.Shndx, sym.Value, sym.Size = elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT), secBSS, m.bss, s.size
		m.bss += (max(s.size, 1) + step - 1) / step * step
	} else {
		m.text += step
	}
	put(&m.symbols, sym)
	put(&m.versym, version)
}

// defineVersions adds the versions that the library defines. The first is the name of the library itself.
func (m *image) defineVersions(names []string) {
	const size, auxSize = 20, 8
	for i, name := range names {
		flags, next := uint16(0), uint32(size+auxSize)
		if i == 0 {
			flags = 1 // VER_FLG_BASE
		}
		if i == len(names)-1 {
			next = 0
		}
		put(&m.verdef, []uint16{1, flags, uint16(i + 1), 1})
		put(&m.verdef, []uint32{hash(name), size, next})
		put(&m.verdef, []uint32{m.strings.add(name), 0})
	}
}

// hash is the function of the System V ABI by which versions are found.
func hash(name string) (h uint32) {
	for _, c := range []byte(name) {
		h = h<<4 + uint32(c)
		h ^= h >> 24 & 0xf0
		h &= 0x0fffffff
	}
	return h
}

// bytes puts the parts together: the header, the sections' contents and their headers.
func (m *image) bytes(versions uint32) []byte {
	const headerSize, sectionSize = 64, 64
	var names [sectionCount]uint32
	for i, name := range sectionNames {
		names[i] = m.names.add(name)
	}
	alloc, write, exec := uint64(elf.SHF_ALLOC), uint64(elf.SHF_WRITE), uint64(elf.SHF_EXECINSTR)
	sections := [sectionCount]elf.Section64{
		secDynsym:  {Type: uint32(elf.SHT_DYNSYM), Flags: alloc, Link: secDynstr, Info: 1, Addralign: 8, Entsize: 24},
		secDynstr:  {Type: uint32(elf.SHT_STRTAB), Flags: alloc, Addralign: 1},
		secVersym:  {Type: uint32(elf.SHT_GNU_VERSYM), Flags: alloc, Link: secDynsym, Addralign: 2, Entsize: 2},
		secVerdef:  {Type: uint32(elf.SHT_GNU_VERDEF), Flags: alloc, Link: secDynstr, Info: versions, Addralign: 8},
		secDynamic: {Type: uint32(elf.SHT_DYNAMIC), Flags: alloc | write, Link: secDynstr, Addralign: 8, Entsize: 16},
		secText:    {Type: uint32(elf.SHT_NOBITS), Flags: alloc | exec, Addralign: step, Size: m.text},
		secBSS:     {Type: uint32(elf.SHT_NOBITS), Flags: alloc | write, Addralign: step, Size: m.bss},
		secNames:   {Type: uint32(elf.SHT_STRTAB), Addralign: 1},
	}
	contents := map[int]*bytes.Buffer{secDynsym: &m.symbols, secDynstr: &m.strings.Buffer, secVersym: &m.versym,
		secVerdef: &m.verdef, secDynamic: &m.dynset, secNames: &m.names.Buffer}
	var body bytes.Buffer
	for i := range sections {
		s := &sections[i]
		body.Write(make([]byte, -(headerSize+body.Len())&15))
		if s.Name, s.Off = names[i], uint64(headerSize+body.Len()); i == secNull {
			s.Off = 0
		}
		if content := contents[i]; content != nil {
			s.Size = uint64(content.Len())
			body.Write(content.Bytes())
		}
	}
	body.Write(make([]byte, -(headerSize+body.Len())&15))
	header := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Ehsize: headerSize,
		Shoff: uint64(headerSize + body.Len()), Shentsize: sectionSize, Shnum: sectionCount, Shstrndx: secNames,
	}
	var out bytes.Buffer
	put(&out, header)
	out.Write(body.Bytes())
	put(&out, sections)
	return out.Bytes()
}
