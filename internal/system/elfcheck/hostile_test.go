package elfcheck

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostile parses a library that lies, which must neither panic nor take more than a little memory and time.
func hostile(t *testing.T, what string, content []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	lib, err := Parse("bad.so", bytes.NewReader(content), int64(len(content)))
	if err == nil {
		lib.Check(Policy{})
	} else if strings.Contains(err.Error(), "runtime error") {
		t.Errorf("%s: %v", what, err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%s: %d MiB of memory", what, took>>20)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%s: %v", what, took)
	}
}

// TestHostile sets every word of a library to absurd values, one at a time.
func TestHostile(t *testing.T) {
	whole, err := os.ReadFile(compile(t, "extern \"C\" int absent(); extern \"C\" int run() { return absent(); }", "-nostartfiles", "-Wl,--hash-style=both", "-Wl,-z,noseparate-code"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("good.so", bytes.NewReader(whole), int64(len(whole))); err != nil {
		t.Fatal(err)
	}
	for at := 16; at+8 <= len(whole); at += 4 {
		for _, value := range []uint64{1, 0x7fffffff, 0xffffffff, 1 << 40, 1<<63 - 1, 1<<64 - 1} {
			bad := slices.Clone(whole)
			if value>>32 == 0 {
				binary.LittleEndian.PutUint32(bad[at:], uint32(value))
			} else {
				binary.LittleEndian.PutUint64(bad[at:], value)
			}
			hostile(t, "a word", bad)
		}
	}
}

// sparse is a library of some bytes, most of them zeros, whose one segment is the whole file. The dynamic section stands behind
// the header, and so does whatever else is put there.
func sparse(size int, dynamic [][2]uint64, beside map[int][]byte) []byte {
	content := make([]byte, size)
	var head bytes.Buffer
	length := uint64(16 * (len(dynamic) + 1))
	for _, part := range []any{
		elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 2},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Filesz: uint64(size), Memsz: uint64(size)},
		elf.Prog64{Type: uint32(elf.PT_DYNAMIC), Off: 176, Vaddr: 176, Filesz: length, Memsz: length},
		dynamic,
	} {
		_ = binary.Write(&head, binary.LittleEndian, part) // to memory
	}
	copy(content, head.Bytes())
	for at, text := range beside {
		copy(content[at:], text)
	}
	return content
}

// TestMemory: a library takes little memory, even where all of it is a table of strings, of symbols or of sections, or where many
// names share the same long text.
func TestMemory(t *testing.T) {
	const size, table = 32 << 20, 4096
	long := bytes.Repeat([]byte("x"), 1<<19)
	hash := make([]byte, 8)
	binary.LittleEndian.PutUint32(hash[4:], 100000) // symbols
	var symbols, needed []byte
	for range 100000 {
		symbol := make([]byte, symbolSize)
		binary.LittleEndian.PutUint32(symbol, 1)
		symbol[4] = 1 << 4
		symbols = append(symbols, symbol...)
	}
	strings := [][2]uint64{{uint64(elf.DT_STRTAB), table}, {uint64(elf.DT_STRSZ), size - table}}
	for range 1000 {
		needed = append(needed, 0)
	}
	many := slices.Clone(strings)
	for range needed {
		many = append(many, [2]uint64{uint64(elf.DT_NEEDED), 1 << 15})
	}
	sections := sparse(size, strings, map[int][]byte{1 << 15: long})
	binary.LittleEndian.PutUint64(sections[40:], 1<<20) // where the sections are described
	binary.LittleEndian.PutUint16(sections[58:], 64)
	binary.LittleEndian.PutUint16(sections[60:], 60000)
	for i := range 60000 { // each has the same long name
		binary.LittleEndian.PutUint32(sections[1<<20+64*i:], 1<<15)
	}
	binary.LittleEndian.PutUint64(sections[1<<20+32:], size)
	for name, content := range map[string][]byte{
		"strings":  sparse(size, strings, nil),
		"needed":   sparse(size, many, map[int][]byte{1<<15 + table: long}),
		"sections": sections,
		"symbols": sparse(size, append([][2]uint64{strings[0], {uint64(elf.DT_STRSZ), 1 << 19}}, [][2]uint64{{uint64(elf.DT_HASH), 1 << 20}, {uint64(elf.DT_SYMTAB), 2 << 20}}...),
			map[int][]byte{table + 1: bytes.Repeat([]byte("x"), 4000), 1 << 20: hash, 2 << 20: symbols}),
		"code": slices.Concat([]byte("\x7fELF\x02\x01\x01"), make([]byte, size)),
	} {
		hostile(t, name, content)
	}
}

// A program whose addresses are free is none that loaders take for a library.
func TestProgram(t *testing.T) {
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.cc")
	if err := os.WriteFile(source, []byte("int main() { return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]bool{"-pie": true, "-no-pie": true, "-shared": false} {
		out := filepath.Join(dir, flag)
		if text, err := exec.Command("c++", "-fPIC", flag, "-o", out, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		lib, err := Read(out)
		if err != nil || lib.Program != want {
			t.Errorf("%s: %+v, %v", flag, lib, err)
		}
	}
}

// FuzzParse is for `go test -fuzz`; the seeds run with every test.
func FuzzParse(f *testing.F) {
	f.Add([]byte("\x7fELF"))
	f.Add([]byte{})
	whole, err := os.ReadFile(compile(f, source))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(_ *testing.T, content []byte) {
		if lib, err := Parse("bad.so", bytes.NewReader(content), int64(len(content))); err == nil {
			lib.Check(Policy{})
		}
	})
}
