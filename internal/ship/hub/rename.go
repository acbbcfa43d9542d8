package hub

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/system/git"
)

// The library through which a framework calls ops has their namespace in a variable opcast_<framework>_namespace, with room for
// a longer one, if it enters the ops somewhere by itself. Two kernels in one process need different ones, and to write it into
// the copy costs no build.
const roomPrefix, roomSuffix = "opcast_", "_namespace"

// renamed is a file of a kernel with the namespace of the kernel; files that have none stay as they are.
func renamed(name string, content []byte, namespace string) ([]byte, error) {
	if path.Ext(name) != ".so" {
		return content, nil
	}
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool {
		return s.Section != elf.SHN_UNDEF && strings.HasPrefix(s.Name, roomPrefix) && strings.HasSuffix(s.Name, roomSuffix)
	})
	if i < 0 {
		return content, nil
	}
	room := symbols[i]
	if uint64(len(namespace)) >= room.Size {
		return nil, fmt.Errorf("%s: %s has no room for %s", name, room.Name, namespace)
	}
	offset, err := fileOffset(f, room.Value, room.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", name, room.Name, err)
	}
	out := slices.Clone(content)
	clear(out[offset : offset+room.Size])
	copy(out[offset:], namespace)
	return out, nil
}

// fileOffset is where in the file the bytes of an address lie.
func fileOffset(f *elf.File, address, size uint64) (uint64, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address+size <= p.Vaddr+p.Filesz {
			return p.Off + address - p.Vaddr, nil
		}
	}
	return 0, fmt.Errorf("the file does not hold address %#x", address)
}

// short is what tells a kernel from others made of other sources: the beginning of the commit. Where the files are not those of
// a commit, it is that of a digest of what is built of them.
func short(s git.Source, files map[string][]byte) string {
	if s.Commit != "" && !s.Dirty {
		return s.Commit[:7]
	}
	sum := sha256.New()
	for _, f := range inOrder(files) {
		fmt.Fprintf(sum, "%s %d\n", f.Name, len(f.Content))
		sum.Write(f.Content)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:7]
}
