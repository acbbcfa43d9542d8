package elfcheck

import (
	"debug/elf"
	"encoding/binary"
)

// The sizes of a symbol, of a relocation, and of the two kinds of entries that say which versions are needed.
const symbolSize, relocationSize, needSize, needAuxSize = 24, 24, 16, 16

// maxVersions is the number of versions that symbols can name.
const maxVersions = 1 << 15

// maxSymbols is the number of symbols that are read; the largest libraries of frameworks have some hundred thousand.
const maxSymbols = 1 << 21

// symbolCount is the number of dynamic symbols. No entry says it: the hash tables know those that are defined, and relocations name
// the others, in so far as the loader will ever look for them.
func (m *image) symbolCount() (uint64, error) {
	n := uint64(1)
	if address := m.value(elf.DT_HASH); address != 0 {
		head, err := m.at(address, 8)
		if err != nil {
			return 0, err
		}
		n = uint64(binary.LittleEndian.Uint32(head[4:]))
	}
	if address := m.value(elf.DT_GNU_HASH); address != 0 {
		hashed, err := m.hashedSymbols(address)
		if err != nil {
			return 0, err
		}
		n = max(n, hashed)
	}
	for _, t := range [][2]elf.DynTag{{elf.DT_RELA, elf.DT_RELASZ}, {elf.DT_JMPREL, elf.DT_PLTRELSZ}} { //nolint:misspell // the names are ELF's
		if m.value(t[0]) == 0 {
			continue
		}
		err := m.each(m.value(t[0]), m.value(t[1])/relocationSize, relocationSize, func(_ uint64, entry []byte) error {
			n = max(n, uint64(binary.LittleEndian.Uint32(entry[12:]))+1)
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// hashedSymbols reads the GNU hash table: a header, a filter, the first symbol of each bucket and the chains, whose last entries are
// odd.
func (m *image) hashedSymbols(address uint64) (uint64, error) {
	head, err := m.at(address, 16)
	if err != nil {
		return 0, err
	}
	buckets, first, filter := uint64(binary.LittleEndian.Uint32(head)), uint64(binary.LittleEndian.Uint32(head[4:])), uint64(binary.LittleEndian.Uint32(head[8:]))
	start := address + 16 + 8*filter
	last := uint64(0)
	err = m.each(start, buckets, 4, func(_ uint64, entry []byte) error {
		last = max(last, uint64(binary.LittleEndian.Uint32(entry)))
		return nil
	})
	if err != nil {
		return 0, err
	}
	if last < first {
		return first, nil // empty buckets
	}
	const longest = 1 << 16 // entries of one chain; real ones have few
	for i := range uint64(longest) {
		entry, err := m.at(start+4*(buckets+last-first+i), 4)
		if err != nil {
			return 0, err
		}
		if entry[0]&1 == 1 {
			return last + i + 1, nil
		}
	}
	return 0, damagedBy("a chain of symbols does not end")
}

// Need is a version that a library must find in another one.
type Need struct{ Library, Version string }

// needs are the versions by the numbers that symbols have.
func (m *image) needs() (map[uint16]Need, error) {
	all := map[uint16]Need{}
	address := m.value(elf.DT_VERNEED)
	if address == 0 {
		return all, nil
	}
	for range maxVersions {
		need, err := m.at(address, needSize)
		if err != nil {
			return nil, err
		}
		library, err := m.strings.at(uint64(binary.LittleEndian.Uint32(need[4:])))
		if err != nil {
			return nil, err
		}
		aux := address + uint64(binary.LittleEndian.Uint32(need[8:]))
		if err := m.needsOf(library, aux, int(binary.LittleEndian.Uint16(need[2:])), all); err != nil {
			return nil, err
		}
		next := uint64(binary.LittleEndian.Uint32(need[12:]))
		if next == 0 {
			return all, nil
		}
		address += next
	}
	return nil, damagedBy("it needs more versions than there can be")
}

// needsOf adds the versions of one library.
func (m *image) needsOf(library string, address uint64, n int, all map[uint16]Need) error {
	for range n {
		aux, err := m.at(address, needAuxSize)
		if err != nil {
			return err
		}
		version, err := m.strings.at(uint64(binary.LittleEndian.Uint32(aux[8:])))
		if err != nil {
			return err
		}
		number := binary.LittleEndian.Uint16(aux[6:]) & (maxVersions - 1)
		if _, twice := all[number]; twice {
			return damagedBy("two versions have the number %d", number)
		}
		all[number] = Need{library, version}
		next := uint64(binary.LittleEndian.Uint32(aux[12:]))
		if next == 0 {
			return nil
		}
		address += next
	}
	return nil
}

// fillSymbols reads the dynamic symbols.
func (l *Library) fillSymbols(m *image) error {
	needs, err := m.needs()
	if err != nil {
		return err
	}
	for _, n := range needs {
		l.Versions = append(l.Versions, n)
	}
	count, err := m.symbolCount()
	if err != nil {
		return err
	}
	if count > maxSymbols {
		return damagedBy("it has %d symbols", count)
	}
	versions := make([]uint16, count)
	if address := m.value(elf.DT_VERSYM); address != 0 {
		err := m.each(address, count, 2, func(i uint64, entry []byte) error {
			versions[i] = binary.LittleEndian.Uint16(entry) & (maxVersions - 1)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return m.each(m.value(elf.DT_SYMTAB), count, symbolSize, func(i uint64, symbol []byte) error {
		name, err := m.strings.at(uint64(binary.LittleEndian.Uint32(symbol)))
		if err != nil {
			return err
		}
		l.add(name, elf.ST_BIND(symbol[4]), elf.SectionIndex(binary.LittleEndian.Uint16(symbol[6:])), needs[versions[i]])
		return nil
	})
}

// add sorts a symbol in.
func (l *Library) add(name string, bind elf.SymBind, section elf.SectionIndex, need Need) {
	switch {
	case name == "" || bind == elf.STB_LOCAL:
	case section != elf.SHN_UNDEF:
		l.Exports = append(l.Exports, name)
	case bind == elf.STB_WEAK:
		l.Weak = append(l.Weak, Symbol{name, need.Version, need.Library})
	default:
		l.Undefined = append(l.Undefined, Symbol{name, need.Version, need.Library})
	}
}
