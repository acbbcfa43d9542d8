package randomop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/opcast/opcast/internal/language/dtype"
)

// Drawer makes ops up. Equal seeds give equal ops.
type Drawer struct {
	random *rand.Rand
	made   int
	op     *Op
	// dims are the sizes that inputs have given so far.
	dims []string
}

// New returns a drawer.
func New(seed, stream uint64) *Drawer { return &Drawer{random: rand.New(rand.NewPCG(seed, stream))} }

// often is true in so many of ten cases.
func (d *Drawer) often(tenths int) bool { return d.random.IntN(10) < tenths }

// pick draws one of the items.
func pick[T any](d *Drawer, items ...T) T { return items[d.random.IntN(len(items))] }

// Next draws an op, and with some luck those that compute its derivatives. The ops need each other.
func (d *Drawer) Next() []*Op {
	d.begin()
	var ops []*Op
	switch d.random.IntN(10) {
	case 0, 1:
		ops = d.differentiable()
	case 2:
		ops = []*Op{d.sliced()}
	case 3:
		ops = []*Op{d.selecting()}
	case 4:
		ops = []*Op{d.lists()}
	default:
		ops = []*Op{d.general()}
	}
	for _, op := range ops {
		d.op = op
		d.order()
		d.scratch()
		d.kernels()
		d.fault()
	}
	return ops
}

// begin starts an op.
func (d *Drawer) begin() {
	d.op = d.newOp("op" + strconv.Itoa(d.made+1))
	d.dims = nil
}

func (d *Drawer) newOp(name string) *Op {
	d.made++
	return &Op{Name: name, kind: d.made, vars: map[string][]string{}}
}

// newDim is a size that has not been used.
func (d *Drawer) newDim() string {
	name := string(rune('A' + len(d.dims)))
	d.dims = append(d.dims, name)
	return name
}

// general draws an op of any signature.
func (d *Drawer) general() *Op {
	d.op.lead = pick(d, "*", "*", "*", "...", "...", "")
	for i := range d.random.IntN(3) {
		d.op.vars[string(rune('S'+i))] = d.dtypes()
	}
	d.attrs()
	d.inputs()
	d.outputs()
	d.conditions()
	d.rest()
	return d.op
}

// dtypes are those that a variable may stand for.
func (d *Drawer) dtypes() []string {
	if d.often(5) {
		return d.floats()
	}
	var list []string
	for range 1 + d.random.IntN(3) {
		list = append(list, d.anyDType())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// floats are the dtypes of which there are gradients.
func (d *Drawer) floats() []string { return []string{"f32", "f16", "bf16"}[:1+d.random.IntN(3)] }

func (d *Drawer) anyDType() string {
	for {
		if one := pick(d, dtype.Table...); one.CPP != "" && one.Short != "f8e8m0fnu" { // which has no zero
			return one.Short
		}
	}
}

// dtype is a variable or a dtype.
func (d *Drawer) dtype(vars []string) string {
	if len(vars) > 0 && d.often(7) {
		return pick(d, vars...)
	}
	return pick(d, "f32", "f32", "f16", "bf16", "i32", "i64", "bool", "i8", "u8", "f64", d.anyDType())
}

// fault draws where the fault is: in any result, and in all kernels or in one of several.
func (d *Drawer) fault() {
	results := d.op.results()
	for range 20 {
		d.op.spoilt = d.random.IntN(len(results))
		if a := results[d.op.spoilt]; !a.saved && !slices.Contains(a.dims, "0") {
			break
		}
	}
	if n := len(d.op.kernels); n > 1 && d.often(3) {
		d.op.only = d.op.kernels[d.random.IntN(n)].name
	}
}

// Writes says whether a call may write something: else its kernel cannot be wrong.
func (op *Op) Writes() bool {
	return slices.ContainsFunc(op.results(), func(a *arg) bool { return !slices.Contains(a.dims, "0") })
}

// scratch draws work space.
func (d *Drawer) scratch() {
	if !d.often(2) || d.op.inputs[0].list != "" {
		return
	}
	for i := range 1 + d.random.IntN(2) {
		d.op.scratch = append(d.op.scratch, scratch{fmt.Sprintf("space%d", i), d.op.inputs[0].size() + " + " + strconv.Itoa(i), d.often(4)})
	}
}
