package elfcheck

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
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

// Demangle returns the qualified name in a mangled C++ function ("_ZN3ops7RmsNormERK…" is ops::RmsNorm), without its
// parameters. Whatever it cannot read, templates and operators among it, comes back as it is.
func Demangle(symbol string) string {
	rest, nested := strings.CutPrefix(symbol, "_ZN")
	if !nested {
		var ok bool
		if rest, ok = strings.CutPrefix(symbol, "_Z"); !ok {
			return symbol
		}
	}
	var parts []string
	for {
		part, tail, ok := sourceName(rest)
		if !ok {
			break
		}
		parts, rest = append(parts, part), tail
		if !nested {
			break
		}
	}
	if parts == nil || nested && !strings.HasPrefix(rest, "E") {
		return symbol
	}
	return strings.Join(parts, "::")
}

// sourceName reads a length and as many characters.
func sourceName(s string) (name, rest string, ok bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n == 0 || n > len(s)-digits {
		return "", "", false
	}
	return s[digits : digits+n], s[digits+n:], true
}
