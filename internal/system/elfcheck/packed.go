package elfcheck

import (
	"encoding/binary"
)

// packed reads MessagePack, as far as metadata of code use it: maps by text, lists, text, integers and truth.
type packed struct{ rest []byte }

// deepest is how far lists and maps may lie in each other.
const deepest = 16

// take returns the next bytes.
func (p *packed) take(n uint64) ([]byte, error) {
	if n > uint64(len(p.rest)) {
		return nil, damagedBy("metadata end early")
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken, nil
}

// number reads an integer of 1, 2, 4 or 8 bytes, the highest one first.
func (p *packed) number(bytes uint64) (uint64, error) {
	taken, err := p.take(bytes)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[8-bytes:], taken)
	return binary.BigEndian.Uint64(wide[:]), nil
}

// value reads a value: int64, string, bool, []any, map[string]any or nil.
func (p *packed) value(depth int) (any, error) {
	taken, err := p.take(1)
	if err != nil {
		return nil, err
	}
	if depth > deepest {
		return nil, damagedBy("metadata lie too deep")
	}
	switch b := taken[0]; {
	case b < 0x80:
		return int64(b), nil
	case b < 0x90:
		return p.table(uint64(b&0xf), depth)
	case b < 0xa0:
		return p.list(uint64(b&0xf), depth)
	case b < 0xc0:
		return p.text(uint64(b & 0x1f))
	case b >= 0xe0:
		return int64(int8(b)), nil
	case b == 0xc0:
		return nil, nil //nolint:nilnil // nothing is a value
	case b == 0xc2, b == 0xc3:
		return b == 0xc3, nil
	case b >= 0xcc && b <= 0xd3:
		n, err := p.number(1 << ((b - 0xcc) % 4))
		return int64(n), err // negative numbers are not asked for
	case b >= 0xd9 && b <= 0xdb:
		return counted(p, 1<<(b-0xd9), p.text)
	case b == 0xdc, b == 0xdd:
		return counted(p, 2<<(b-0xdc), func(n uint64) ([]any, error) { return p.list(n, depth) })
	case b == 0xde, b == 0xdf:
		return counted(p, 2<<(b-0xde), func(n uint64) (map[string]any, error) { return p.table(n, depth) })
	default:
		return nil, damagedBy("metadata hold a value of kind %#x", b)
	}
}

// counted reads a length of so many bytes, and then what is so long.
func counted[T any](p *packed, bytes uint64, read func(uint64) (T, error)) (any, error) {
	n, err := p.number(bytes)
	if err != nil {
		return nil, err
	}
	return read(n)
}

func (p *packed) text(n uint64) (string, error) {
	taken, err := p.take(n)
	return string(taken), err
}

func (p *packed) list(n uint64, depth int) (list []any, err error) {
	for range n {
		v, err := p.value(depth + 1) // which needs a byte at least, so that no length is believed
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (p *packed) table(n uint64, depth int) (map[string]any, error) {
	table := map[string]any{}
	for range n {
		key, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		value, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if name, ok := key.(string); ok {
			table[name] = value
		}
	}
	return table, nil
}
