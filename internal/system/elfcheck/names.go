package elfcheck

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// longestName is the length of the longest name that is read.
const longestName = 1 << 20

// small is the size of a table that is read in one piece: symbols have their names in no order. Those of frameworks are small.
const small = 32 << 20

// names is a table of strings, which is read where it is asked.
type names struct {
	r            io.ReaderAt
	offset, size uint64
	// window are the bytes that were read last, and the place where they begin. Of a small table it has all.
	window []byte
	begin  uint64
	taken  uint64
}

// allowed is how much all names may have together. They may share bytes of the table, which linkers use for the ends of names, so
// that its size alone is no bound.
func (n *names) allowed() uint64 { return longestName + 2*n.size }

// at is the string that begins at an offset.
func (n *names) at(offset uint64) (string, error) {
	if offset >= n.size {
		return "", damagedBy("a name at %#x of %d bytes", offset, n.size)
	}
	for length := uint64(1 << 12); ; length *= 4 {
		length = min(length, n.size-offset, longestName)
		text, err := n.bytes(offset, length)
		if err != nil {
			return "", err
		}
		end := bytes.IndexByte(text, 0)
		switch {
		case end >= 0:
			if n.taken += uint64(end); n.taken > n.allowed() {
				return "", damagedBy("its names repeat a table of %d bytes", n.size)
			}
			return string(text[:end]), nil
		case length == n.size-offset:
			return "", damagedBy("a name that does not end")
		case length == longestName:
			return "", damagedBy("a name of more than %d MiB", longestName>>20)
		}
	}
}

// bytes are some of the table. A name that the window has only a part of moves it.
func (n *names) bytes(offset, length uint64) ([]byte, error) {
	if offset >= n.begin && offset-n.begin < uint64(len(n.window)) {
		rest := n.window[offset-n.begin:]
		if uint64(len(rest)) >= length || bytes.IndexByte(rest, 0) >= 0 {
			return rest, nil
		}
	}
	n.begin = offset
	if n.size <= small {
		n.begin, length = 0, n.size
	}
	n.window = slices.Grow(n.window[:0], int(length))[:length]
	if _, err := n.r.ReadAt(n.window, int64(n.offset+n.begin)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return n.window[offset-n.begin:], nil
}
