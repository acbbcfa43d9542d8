package elfcheck

import (
	"bytes"
	"encoding/binary"
	"os"
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
