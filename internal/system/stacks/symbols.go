package stacks

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ianlancetaylor/demangle"
)

// Symbols names the places in the code of one file.
type Symbols struct {
	path      string
	functions []elf.Symbol
	segments  []elf.ProgHeader
	debug     *dwarf.Data
}

// Open reads the names in an ELF file. One that cannot be read has none.
func Open(path string) *Symbols {
	s := &Symbols{path: path}
	file, err := elf.Open(path)
	if err != nil {
		return s
	}
	defer file.Close()
	all, err := file.Symbols()
	if err != nil || len(all) == 0 { // it was stripped
		all, _ = file.DynamicSymbols() // none are none
	}
	for _, symbol := range all {
		if elf.ST_TYPE(symbol.Info) == elf.STT_FUNC && symbol.Size > 0 {
			s.functions = append(s.functions, symbol)
		}
	}
	slices.SortFunc(s.functions, func(a, b elf.Symbol) int {
		if a.Value < b.Value {
			return -1
		}
		return 1
	})
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD {
			s.segments = append(s.segments, p.ProgHeader)
		}
	}
	s.debug, _ = file.DWARF() // without it, lines are not known
	return s
}

// address is that of a place in the file; false where no segment has it.
func (s *Symbols) address(offset uint64) (uint64, bool) {
	for _, p := range s.segments {
		if offset >= p.Off && offset < p.Off+p.Filesz {
			return offset - p.Off + p.Vaddr, true
		}
	}
	return 0, false
}

// function is the one at an address; nil if there is none.
func (s *Symbols) function(address uint64) *elf.Symbol {
	for i := range s.functions {
		if f := &s.functions[i]; address >= f.Value && address < f.Value+f.Size {
			return f
		}
	}
	return nil
}

// Name says what is at an address: the function and, if the file has debug information, its line.
func (s *Symbols) Name(address uint64) string {
	f := s.function(address)
	if f == nil {
		return fmt.Sprintf("%s+%#x", filepath.Base(s.path), address)
	}
	name := demangle.Filter(f.Name, demangle.NoParams, demangle.NoTemplateParams)
	if place := s.line(address); place != "" {
		return name + " at " + place
	}
	return name
}

// line is the file and the line of an address; empty without debug information.
func (s *Symbols) line(address uint64) string {
	if s.debug == nil {
		return ""
	}
	unit, err := s.debug.Reader().SeekPC(address)
	if err != nil {
		return ""
	}
	lines, err := s.debug.LineReader(unit)
	if err != nil || lines == nil {
		return ""
	}
	// Not LineReader.SeekPC: it knows nothing of units whose functions lie in sections of their own.
	var last, next dwarf.LineEntry
	for last.EndSequence = true; lines.Next(&next) == nil; last = next {
		if !last.EndSequence && last.Address <= address && address < next.Address && last.File != nil {
			return fmt.Sprintf("%s:%d", filepath.Clean(last.File.Name), last.Line)
		}
	}
	return ""
}
