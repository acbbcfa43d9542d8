package elfcheck

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fatEntry is an entry of a fat binary: kind, architecture and some code.
func fatEntry(kind uint16, arch uint32, code int) []byte {
	entry := make([]byte, 64+code)
	binary.LittleEndian.PutUint16(entry, kind)
	binary.LittleEndian.PutUint32(entry[4:], 64)
	binary.LittleEndian.PutUint64(entry[8:], uint64(code))
	binary.LittleEndian.PutUint32(entry[28:], arch)
	return entry
}

func fatBinary(entries ...[]byte) []byte {
	body := slices.Concat(entries...)
	header := binary.LittleEndian.AppendUint32(nil, fatMagic)
	header = binary.LittleEndian.AppendUint16(header, 1)
	header = binary.LittleEndian.AppendUint16(header, 16)
	return append(binary.LittleEndian.AppendUint64(header, uint64(len(body))), body...)
}

func TestFatBinaries(t *testing.T) {
	section := slices.Concat(
		fatBinary(fatEntry(2, 80, 24), fatEntry(1, 90, 8)), make([]byte, 16),
		fatBinary(fatEntry(2, 90, 40), fatEntry(2, 80, 0)))
	want := []string{"compute_90", "sm_80", "sm_90"}
	search := func(data []byte) []string {
		got, err := fatBinaries(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if diff := cmp.Diff(want, search(section)); diff != "" {
		t.Errorf("code (-want +got):\n%s", diff)
	}
	if got := search(make([]byte, 100)); len(got) > 0 {
		t.Errorf("code in zeros: %q", got)
	}
	// A header and an entry may lie across the parts that are read at a time.
	for _, before := range []int{1<<20 - 64, 1<<20 - 16, 1<<20 - 8, 1 << 20, 1<<21 - 24} {
		if diff := cmp.Diff(want, search(slices.Concat(make([]byte, before), section))); diff != "" {
			t.Errorf("code behind %d bytes (-want +got):\n%s", before, diff)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 { // damage ends in some answer
		bad := slices.Clone(section[:rng.IntN(len(section))])
		for range 4 {
			if len(bad) > 0 {
				bad[rng.IntN(len(bad))] = byte(rng.Uint32())
			}
		}
		search(bad)
	}
}

func TestDeviceCodeOfTheCPU(t *testing.T) {
	code, err := DeviceCode(compile(t, "int x;"))
	if err != nil || len(code) > 0 {
		t.Errorf("a library for the CPU holds %q, %v", code, err)
	}
	if _, err := DeviceCode(t.TempDir()); err == nil {
		t.Error("no error for a folder")
	}
}
