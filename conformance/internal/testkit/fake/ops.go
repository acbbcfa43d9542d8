package fake

import (
	"math"
	"testing"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/opdef"
)

// ToyValues are the results of a toy op, one list per slot, nil for what does not exist. round is applied to every
// intermediate result.
func ToyValues(c *cases.Case, round func(float64) float64) [][]float64 {
	in := make([][]float64, max(6, len(c.Inputs)))
	for i, a := range c.Inputs {
		if a != nil {
			in[i] = a.Floats()
		}
	}
	switch c.Op.Name {
	case "affine":
		return [][]float64{affine(c, in[0], in[1], in[2], round)}
	case "norm":
		y, scale := norm(c, in[0], in[1], in[2], round)
		return [][]float64{y, scale}
	case "norm_backward":
		return normBackward(c, in, round)
	case "gather":
		return gather(c, in[:len(c.Inputs)], round)
	case "accumulate":
		return accumulate(c, in[0], in[1], in[2], round)
	case "join":
		return [][]float64{join(in[0], in[1], in[2], round)}
	case "counts":
		return rounded(ToyIntegers(c))
	case "move":
		return [][]float64{move(in[0], in[1][0], round)}
	case "ragged":
		return [][]float64{ragged(c, in[0], in[1], in[2], round)}
	}
	panic("no toy " + c.Op.Name)
}

func join(a, b, c []float64, round func(float64) float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = round(max(a[i], b[i]) + c[i])
	}
	return out
}

func move(x []float64, by float64, round func(float64) float64) []float64 {
	for i, v := range x {
		x[i] = round(v + by)
	}
	return x
}

func affine(c *cases.Case, x, w, bias []float64, round func(float64) float64) []float64 {
	if bias == nil {
		bias = make([]float64, len(w))
	}
	alpha, _ := cases.ToFloat(c.Attr("alpha"))
	for i, v := range x {
		y := round(round(alpha*round(v*w[i%len(w)])) + bias[i%len(w)])
		if c.Attr("mode") == "relu" && y < 0 {
			y = 0
		}
		x[i] = y
	}
	return x
}

func norm(c *cases.Case, x, w, shift []float64, round func(float64) float64) (y, scale []float64) {
	if shift == nil {
		shift = make([]float64, len(w))
	}
	eps, _ := cases.ToFloat(c.Attr("eps"))
	for row := 0; row+len(w) <= len(x) && len(w) > 0; row += len(w) {
		sum := 0.0
		for _, v := range x[row : row+len(w)] {
			sum = round(sum + round(v*v))
		}
		scale = append(scale, round(1/round(math.Sqrt(sum+eps))))
		for i, v := range x[row : row+len(w)] {
			out := round(round(round(v*scale[len(scale)-1])*w[i]) + shift[i])
			if c.Attr("negative") == false {
				out = max(out, 0)
			}
			y = append(y, out)
		}
	}
	if len(w) == 0 {
		shape, _ := c.Shape(c.Op.Outputs[1].Type)
		for range count(shape) {
			scale = append(scale, 1/math.Sqrt(eps))
		}
	}
	return orNone(y), orNone(scale)
}

// normBackward takes grad_y, y, x, w, scale, shift and gives the gradients of x, w and shift.
func normBackward(c *cases.Case, in [][]float64, round func(float64) float64) [][]float64 {
	grad, y, x, w, scale := in[0], in[1], in[2], in[3], in[4]
	n := len(w)
	gradX, gradW, gradShift := make([]float64, len(x)), make([]float64, n), make([]float64, n)
	for row := 0; n > 0 && row < len(x)/n; row++ {
		s, along := scale[row], 0.0
		for i := range n {
			k := row*n + i
			if c.Attr("negative") == false && !(y[k] > 0) {
				grad[k] *= 0
			}
			along = round(along + round(round(grad[k]*w[i])*x[k]))
			gradW[i] = round(gradW[i] + round(round(grad[k]*x[k])*s))
			gradShift[i] = round(gradShift[i] + grad[k])
		}
		for i := range n {
			k := row*n + i
			gradX[k] = round(round(s*round(grad[k]*w[i])) - round(round(round(round(s*s)*s)*x[k])*along))
		}
	}
	if c.Inputs[5] == nil {
		gradShift = nil
	}
	return [][]float64{gradX, gradW, gradShift}
}

// accumulate gives the gated values, if there is a gate, then x and total as they are afterwards.
func accumulate(c *cases.Case, x, total, gate []float64, round func(float64) float64) [][]float64 {
	var gated []float64
	if c.Inputs[2] != nil {
		gated = []float64{}
	}
	for i, v := range x {
		if c.Inputs[2] != nil {
			v = round(v * gate[i%len(gate)])
			gated = append(gated, v)
		}
		total[i] = round(total[i] + v)
		x[i] = round(2 * x[i])
	}
	return [][]float64{gated, x, total}
}

func orNone(values []float64) []float64 {
	if values == nil {
		return []float64{}
	}
	return values
}

func count(shape []int64) int64 {
	n := int64(1)
	for _, s := range shape {
		n *= s
	}
	return n
}

// Conv is the toy op with arithmetic in its sizes.
func Conv(t *testing.T) *opdef.Op {
	t.Helper()
	for _, op := range Toy(t).Ops {
		if op.Name == "conv" {
			return op
		}
	}
	t.Fatal("no conv")
	return nil
}

// ToyOp finds an op of the toy project.
func ToyOp(t *testing.T, name string) *opdef.Op {
	t.Helper()
	for _, op := range Toy(t).Ops {
		if op.Name == name {
			return cases.Tested(op)
		}
	}
	t.Fatalf("no op %s", name)
	return nil
}
