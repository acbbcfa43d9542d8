package rule

import (
	"math"
	"math/bits"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Broadcast gives the dims that two shapes have together, as NumPy does it; false where they do not fit.
func Broadcast(a, b []int64) ([]int64, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, n := range b {
		switch at := len(a) - len(b) + i; {
		case out[at] == 1:
			out[at] = n
		case n != 1 && n != out[at]:
			return nil, false
		}
	}
	return out, true
}

// join broadcasts the leading dims of an input with those before. Those of several inputs fit if each two of them do, so that
// the message can name one.
func (e *evaluation) join(r Rule, v Value, leading []int64) error {
	for _, name := range r.Others {
		other := e.call.Inputs[name]
		if !other.Given {
			continue
		}
		_, fixed := Trailing(e.program.Op.Inputs[e.program.Op.InputIndex(name)].Type)
		first := other.Shape[:len(other.Shape)-fixed]
		if _, fit := Broadcast(leading, first); !fit {
			return expected("ValueError", r.Arg, "leading dimensions that broadcast with %s (of %s), got shape %s", List(first), name, List(v.Shape))
		}
	}
	e.batch, _ = Broadcast(e.batch, leading)
	return nil
}

// countable asks for a number of broadcast indices that fits 64 bits. No output has too many; without outputs that have
// them, nothing else counts them.
func (e *evaluation) countable() error {
	if !e.program.Op.Broadcasts() || slices.Contains(e.batch, 0) {
		return nil
	}
	count := uint64(1)
	for _, n := range e.batch {
		var high uint64
		if high, count = bits.Mul64(count, uint64(n)); high != 0 || count > math.MaxInt64 {
			return expr.ErrOverflow
		}
	}
	return nil
}
