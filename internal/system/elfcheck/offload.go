package elfcheck

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// Compilers for HIP put code into bundles: a row of entries, each with the place of its code and what that is for. The first is
// for the host, and empty. A library has a bundle for each unit, and each begins a page.
const (
	bundleMagic     = "__CLANG_OFFLOAD_BUNDLE__"
	bundleHeader    = len(bundleMagic) + 8
	bundleEntry     = 24 // offset, size and length of what follows, the name
	bundleAlignment = 4096
	mostEntries     = 1 << 8 // more than there are architectures
	longestTarget   = 1 << 8
	mostCode        = 1 << 14 // entries of a library: a unit has a handful
)

// offloaded is code in a bundle: the architecture, "gfx90a:xnack-", and its place in the file.
type offloaded struct {
	arch     string
	at, size int64
}

// offloadBundles lists the code of AMD's GPUs in a part of a file.
func offloadBundles(r io.ReaderAt, size int64) (list []offloaded, err error) {
	begin := make([]byte, bundleHeader)
	for at := int64(0); size-at >= int64(bundleHeader); at += bundleAlignment {
		if _, err := r.ReadAt(begin, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if string(begin[:len(bundleMagic)]) != bundleMagic {
			continue
		}
		count := binary.LittleEndian.Uint64(begin[len(bundleMagic):])
		if count > mostEntries {
			return nil, damagedBy("a bundle of code has %d entries", count)
		}
		found, err := bundleEntries(r, at, size, int(count))
		if err != nil {
			return nil, err
		}
		if list = append(list, found...); len(list) > mostCode {
			return nil, damagedBy("it has more than %d pieces of code", mostCode)
		}
	}
	return list, nil
}

// bundleEntries reads the entries of the bundle at a place.
func bundleEntries(r io.ReaderAt, bundle, size int64, count int) (list []offloaded, err error) {
	entry := make([]byte, bundleEntry)
	at := bundle + int64(bundleHeader)
	for range count {
		if _, err := r.ReadAt(entry, at); err != nil {
			return nil, damagedBy("a bundle of code ends early")
		}
		offset, length := binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint64(entry[8:])
		named := binary.LittleEndian.Uint64(entry[16:])
		if rest := uint64(size - bundle); named > longestTarget || offset > rest || length > rest-offset {
			return nil, damagedBy("an entry of a bundle of code lies outside")
		}
		name := make([]byte, named)
		if _, err := r.ReadAt(name, at+bundleEntry); err != nil {
			return nil, damagedBy("a bundle of code ends early")
		}
		if _, arch, ok := strings.Cut(string(name), "amdgcn-amd-amdhsa--"); ok {
			list = append(list, offloaded{arch, bundle + int64(offset), int64(length)})
		}
		at += bundleEntry + int64(named)
	}
	return list, nil
}
