package tvmffi

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// held keeps memory alive while it is measured.
var held []byte

// Memory of C counts, until it is given back; memory of Go does not.
func TestUsage(t *testing.T) {
	const size, slack = 32 << 20, 1 << 20
	var (
		malloc func(n uintptr) unsafe.Pointer
		free   func(p unsafe.Pointer)
	)
	for name, function := range map[string]any{"malloc": &malloc, "free": &free} {
		address, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
		if err != nil {
			t.Skip("no C library:", err)
		}
		purego.RegisterFunc(function, address)
	}
	before, err := Usage()
	if err != nil {
		t.Fatal(err)
	}
	grown := func(what string, want int64) {
		t.Helper()
		now, err := Usage()
		live, resident := now.Live-before.Live-want, now.Resident-before.Resident-want
		if err != nil || max(live, -live) > slack || max(resident, -resident) > slack {
			t.Errorf("%s: %v, %+v became %+v, want %d more", what, err, before, now, want)
		}
	}
	memory := malloc(size)
	clear(unsafe.Slice((*byte)(memory), size))
	grown("C", size)
	free(memory)
	grown("freed", 0)
	held = make([]byte, size)
	for i := 0; i < size; i += os.Getpagesize() {
		held[i] = 1
	}
	grown("Go", 0)
	held = nil
}

// What is Go's is known by its name or, where the kernel has no names, by its address.
func TestResident(t *testing.T) {
	path := filepath.Join(t.TempDir(), "smaps")
	text := `55d0a2e00000-55d0a2e21000 rw-p 00000000 00:00 0                          [heap]
Rss:                 200 kB
Anonymous:           100 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:          4096 kB
7f0000000000-7f0000100000 rw-p 00000000 00:00 0                          [anon: Go: page summary]
Anonymous:            64 kB
7f1000000000-7f1000100000 r-xp 00000000 08:01 1234                       /usr/lib/libc.so.6
Rss:                1024 kB
Anonymous:             4 kB
VmFlags: rd ex mr mw me sd
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := resident(path, 0xc000123456); err != nil || got != 104<<10 {
		t.Errorf("got %d, %v", got, err)
	}
}

// An older C library has a function with narrower numbers, which says the same.
func TestLive(t *testing.T) {
	wide, err := live[uintptr]("mallinfo2")
	if err != nil {
		t.Skip(err)
	}
	narrow, err := live[uint32]("mallinfo")
	if err != nil || max(wide-narrow, narrow-wide) > 1<<16 {
		t.Errorf("%d and %d bytes, error %v", wide, narrow, err)
	}
}
