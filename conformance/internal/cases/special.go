package cases

import (
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
)

// specialFill puts special numbers into an array; it leaves the others as they are.
type specialFill struct {
	name string
	// put says what stands at a column of a row that has n of them.
	put func(d dtype.DType, row, column, n int) (v float64, special bool)
}

// negativeNaN is NaN with a sign, which kernels that compare bits take for the lowest number.
var negativeNaN = math.Float64frombits(1<<63 | math.Float64bits(math.NaN()))

// specials are the numbers that kernels get wrong.
func specials(d dtype.DType) []float64 {
	tiny := ndarray.Tiny(d)
	return []float64{
		math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), tiny, -100 * tiny, ndarray.Max(d), negativeNaN,
	}
}

// everywhere has one number in all places.
func everywhere(name string, v float64) specialFill {
	return specialFill{name, func(dtype.DType, int, int, int) (float64, bool) { return v, true }}
}

// faint is the smallest normal number among zeros in each row: the inverse of a scale for it is beyond the largest number.
var faint = specialFill{"the smallest normal number and zeros", func(d dtype.DType, _, column, _ int) (float64, bool) {
	if column == 0 {
		return ndarray.Tiny(d) / ndarray.Spacing(d, 1), true
	}
	return 0, true
}}

// zeros are zeros that differ in their signs.
var zeros = specialFill{"zeros of both signs", func(_ dtype.DType, _, column, _ int) (float64, bool) {
	return math.Copysign(0, float64(1-column%2*2)), true
}}

// whole are the fills of all of an array.
var whole = []specialFill{
	everywhere("NaN", math.NaN()), everywhere("inf", math.Inf(1)), everywhere("-inf", math.Inf(-1)), everywhere("0", 0), faint, zeros,
}

// rowsOf fills rows with one special number each, but every seventh, which stays as it is.
var rowsOf = specialFill{"rows of special numbers", func(d dtype.DType, row, column, n int) (float64, bool) {
	if kind := row % (len(whole) + 1); kind < len(whole) {
		return whole[kind].put(d, row, column, n)
	}
	return 0, false
}}

// everyOther has the numbers of a fill in every other row, and in all of an array that has one row.
func everyOther(f specialFill, rows int) specialFill {
	return specialFill{f.name + " in every other row", func(d dtype.DType, row, column, n int) (float64, bool) {
		if rows > 1 && row%2 == 0 {
			return 0, false
		}
		return f.put(d, row, column, n)
	}}
}

// oneInRow has one special number in each row. Two of the largest ones would add up to more than float32 has, on the way to less.
var oneInRow = specialFill{"a special number in each row", func(d dtype.DType, row, column, n int) (float64, bool) {
	list := slices.DeleteFunc(specials(d), func(v float64) bool { return v == ndarray.Max(d) })
	return list[row%len(list)], column == row*5%n
}}

// apart are large numbers, so that the sum of their products with those of another sign is far below zero.
const apart = 288

// fillSpecial is a copy of an array with special numbers.
func fillSpecial(a *ndarray.Array, f specialFill) *ndarray.Array {
	out, n := a.Dense(), max(rowLength(a), 1)
	for i := range int(a.Len()) {
		if v, special := f.put(a.DType, i/n, i%n, n); special {
			ndarray.PutFloat(a.DType, out.Data, int64(i), v)
		}
	}
	return out
}

// SpecialFloats are the inputs of which single numbers may be special, and those of which whole rows may be: not where the author's
// samples make contents, which may have to differ.
func (c *Case) SpecialFloats() (single, rows []int) {
	for _, i := range GivenInputs(c) {
		in, a := &c.Op.Inputs[i], c.Inputs[i]
		if !ndarray.IsFloat(a.DType) || a.Len() == 0 || in.Min != nil || in.Max != nil || in.Sorted {
			continue
		}
		single = append(single, i)
		if !c.Sampled[in.Name] {
			rows = append(rows, i)
		}
	}
	return single, rows
}

// SingleSpecials are copies of a case with a special number in one place of one input.
func (c *Case) SingleSpecials() (out []*Case) {
	single, _ := c.SpecialFloats()
	for _, i := range single {
		in := c.Inputs[i]
		for _, v := range specials(in.DType) {
			name := ndarray.FloatText(in.DType, v)
			if math.IsNaN(v) && math.Signbit(v) {
				name = "-NaN"
			}
			middle := specialFill{name, func(_ dtype.DType, row, column, n int) (float64, bool) {
				return v, int64(row*n+column) == in.Len()/2
			}}
			out = append(out, c.withSpecial(middle, i))
		}
	}
	return out
}

// SpecialRows are copies of a case with special numbers in rows of one input, and in all inputs at once.
func (c *Case) SpecialRows() (out []*Case) {
	_, rows := c.SpecialFloats()
	for _, i := range rows {
		count := int(c.Inputs[i].Len()) / rowLength(c.Inputs[i])
		for _, f := range whole {
			out = append(out, c.withSpecial(everyOther(f, count), i))
		}
	}
	if len(rows) < 2 {
		return out
	}
	for _, f := range whole {
		out = append(out, c.withSpecial(f, rows...))
	}
	for _, i := range rows {
		rest := slices.DeleteFunc(slices.Clone(rows), func(k int) bool { return k == i })
		out = append(out, c.withSpecial(everywhere("-288", -apart), i).withSpecial(everywhere("288", apart), rest...))
	}
	return out
}

// FewSpecials are fewer of them: in each row of one input.
func (c *Case) FewSpecials() (out []*Case) {
	if len(c.Returned()) == 0 {
		return nil
	}
	single, rows := c.SpecialFloats()
	for _, i := range single {
		out = append(out, c.withSpecial(oneInRow, i))
	}
	for _, i := range rows {
		out = append(out, c.withSpecial(rowsOf, i))
	}
	return out
}

// withSpecial is a copy of a case in which some inputs have special numbers.
func (c *Case) withSpecial(f specialFill, inputs ...int) *Case {
	copied := *c
	out := &copied
	for _, i := range inputs {
		out = out.With(i, fillSpecial(c.Inputs[i], f), c.Op.Inputs[i].Name+" has "+f.name)
	}
	if out.Ordinary == nil {
		out.Ordinary = c.Inputs
	}
	return out
}

// RowGroups is into how many groups the rows of an array are parted: one for each, if there are no more. Of an array with one
// dimension, an element is a row.
const RowGroups = 64

// WithoutRows is a copy of a case in which the rows of one input are NaN that are in a group.
func (c *Case) WithoutRows(i, group int) *Case {
	length, byRow := rowLength(c.Inputs[i]), c.Inputs[i].Rank() > 1
	rows := int(c.Inputs[i].Len())
	if byRow {
		rows /= length
	}
	size := (rows + RowGroups - 1) / RowGroups
	f := specialFill{"NaN", func(_ dtype.DType, row, column, _ int) (float64, bool) {
		if !byRow {
			row = column
		}
		return math.NaN(), row/size == group
	}}
	return c.withSpecial(f, i)
}
