package elfcheck

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bundle is code for targets, each of which has its own name for content.
func bundle(targets ...string) []byte {
	head, code := []byte(bundleMagic), []byte(nil)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(targets)))
	for _, target := range targets {
		head = binary.LittleEndian.AppendUint64(head, uint64(bundleAlignment+len(code)))
		head = binary.LittleEndian.AppendUint64(head, uint64(len(target)))
		head = binary.LittleEndian.AppendUint64(head, uint64(len(target)))
		head, code = append(head, target...), append(code, target...)
	}
	whole := slices.Concat(head, make([]byte, bundleAlignment-len(head)), code)
	return append(whole, make([]byte, bundleAlignment-len(code))...)
}

func TestOffloadBundles(t *testing.T) {
	const host, old, new = "host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"
	section := slices.Concat(bundle(host, old), make([]byte, bundleAlignment), bundle(host, new, old))
	got, err := gfxCode(bytes.NewReader(section), int64(len(section)))
	if diff := cmp.Diff([]string{"gfx90a", "gfx942:xnack-"}, got); diff != "" || err != nil {
		t.Errorf("code (-want +got): %v\n%s", err, diff)
	}
	parts, err := offloadBundles(bytes.NewReader(section), int64(len(section)))
	if err != nil || len(parts) != 3 || string(section[parts[1].at:][:parts[1].size]) != new {
		t.Errorf("parts %+v, %v", parts, err)
	}
	for at, damage := range map[int]byte{24: 0xff, 31: 1, 32 + 7: 1, 40 + 6: 1, 48 + 3: 1} {
		bad := slices.Clone(section)
		bad[at] = damage
		if _, err := gfxCode(bytes.NewReader(bad), int64(len(bad))); err == nil {
			t.Errorf("no error with %#x at %d", damage, at)
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 { // damage ends in some answer
		bad := slices.Clone(section[:rng.IntN(len(section))])
		for range 4 {
			if len(bad) > 0 {
				bad[rng.IntN(min(len(bad), 200))] = byte(rng.Uint32())
			}
		}
		_, _ = gfxCode(bytes.NewReader(bad), int64(len(bad)))
	}
}

func TestPacked(t *testing.T) {
	text := slices.Concat([]byte("\x84\xa1a\x07\xa1b\x93\xc2\xc3\xc0\xd9\x03abc\xcd\x01\x00\xa1c\xdc\x00\x01\xe0"))
	p := packed{rest: text}
	got, err := p.value(0)
	want := map[string]any{"a": int64(7), "b": []any{false, true, nil}, "abc": int64(256), "c": []any{int64(-32)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || len(p.rest) != 0 {
		t.Errorf("%v, %d bytes left (-want +got):\n%s", err, len(p.rest), diff)
	}
	for n := range len(text) {
		if p := (packed{rest: text[:n]}); func() error { _, err := p.value(0); return err }() == nil {
			t.Errorf("no error for the first %d bytes", n)
		}
	}
	for _, bad := range []string{"\xc1", "\xdd\xff\xff\xff\xff\x01", "\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x01"} {
		p := packed{rest: []byte(bad)}
		if v, err := p.value(0); err == nil {
			t.Errorf("%q is %v", bad, v)
		}
	}
}
