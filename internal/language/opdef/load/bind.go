package load

import (
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// binder applies the binding rule: it reads the inputs in order and decides which dim solves which size.
type binder struct {
	*checker
	// known are the sizes that required inputs have bound so far.
	known map[string]bool
	// told are the sizes that any input has bound.
	told map[string]bool
	// pending are dims that wait for sizes of later inputs.
	pending []pendingDim
	// chosen are the conditions of dims and whether they hold.
	chosen []choice
	// at is the input that is being read, and steps are those that each input made possible.
	at    int
	steps [][]opdef.Step
}

type pendingDim struct{ input, dim int }

// bind declares the sizes of the inputs and fills Op.Steps. Where attributes choose dims, the rule is applied to each choice.
func (c *checker) bind() {
	c.declareSizes()
	var ways []*binder
	before := len(*c.diags)
	for _, chosen := range c.choices() {
		b := &binder{checker: c, known: map[string]bool{}, told: map[string]bool{}, chosen: chosen, steps: make([][]opdef.Step, len(c.op.Inputs))}
		b.run()
		ways = append(ways, b)
		if len(*c.diags) > before {
			return // other choices would have the same mistake
		}
	}
	c.everyChoiceTells(ways)
	for i := range c.op.Inputs {
		c.op.Steps = append(c.op.Steps, merged(ways, i)...)
	}
}

// run applies the binding rule for one choice of dims.
func (b *binder) run() {
	for i, arg := range b.op.Inputs {
		if !arg.Optional {
			b.input(i)
			b.retry()
		}
	}
	b.refuse()
	required := b.known
	for i, arg := range b.op.Inputs {
		if arg.Optional {
			b.known = maps.Clone(required)
			b.input(i)
			b.retry()
			b.refuse()
			b.keepOptional(arg.Name, required)
		}
	}
}

// everyChoiceTells refuses sizes that are in no dim for some choice of dims: all of an op has them.
func (c *checker) everyChoiceTells(ways []*binder) {
	for i, arg := range c.op.Inputs {
		for _, d := range arg.Type.Dims {
			if d.Expr == nil || c.open {
				continue
			}
			for _, name := range c.expand(d.Expr).Symbols() {
				untold := slices.IndexFunc(ways, func(b *binder) bool { return c.sizes[name] && !b.told[name] })
				if untold < 0 {
					continue
				}
				ways[untold].untold(i, d.Expr, name)
				for _, b := range ways { // said once
					b.told[name] = true
				}
			}
		}
	}
}

// declareSizes checks the input types and finds the sizes that differ per element of a list.
func (c *checker) declareSizes() {
	c.perElement = c.ownSizes()
	for i, arg := range c.op.Inputs {
		for _, d := range arg.Type.Dims {
			if d.Expr != nil {
				c.dim(d.Expr, use{path: tomldoc.Join(tomldoc.Element("inputs", i), "type"), declare: true, list: arg.List})
			}
		}
	}
	for _, name := range keys(c.sizes) {
		if c.perElement[name] {
			c.op.PerElement = append(c.op.PerElement, name)
		}
	}
}

// input takes the dims of one input.
func (b *binder) input(i int) {
	b.at = i
	for j, d := range b.op.Inputs[i].Type.Dims {
		switch {
		case d.Leading():
			b.leading(i, j)
		case !b.solve(pendingDim{i, j}):
			b.pending = append(b.pending, pendingDim{i, j})
		}
	}
}

// leading binds or checks the leading dims. With "..." every input binds: their shapes are broadcast together.
func (b *binder) leading(i, j int) {
	arg := b.op.Inputs[i]
	switch {
	case b.known["*"] && !arg.Type.Dims[j].Ellipsis:
		b.step(opdef.Step{Kind: opdef.CheckBatch, Input: i, Dim: j})
	default:
		b.known["*"] = true
		b.step(opdef.Step{Kind: opdef.BindBatch, Input: i, Dim: j})
	}
}

// solve adds the step of a dim and says whether its sizes are known well enough for one.
func (b *binder) solve(p pendingDim) bool {
	arg := b.op.Inputs[p.input]
	dim := arg.Type.Dims[p.dim].Expr
	form, e := resolve(dim, b.chosen), resolve(b.expand(dim), b.chosen)
	unknown := b.unknown(e)
	if len(unknown) == 0 {
		b.step(opdef.Step{Kind: opdef.CheckSize, Input: p.input, Dim: p.dim, Expr: e, Form: form.Text})
		return true
	}
	name := unknown[0]
	if len(unknown) > 1 {
		return false
	}
	coef, rest, ok := expr.Linear(e, name)
	if !ok || coef.Op == expr.OpConst && coef.Value == 0 {
		return false
	}
	b.known[name], b.told[name] = true, true
	b.step(opdef.Step{Kind: opdef.BindSize, Input: p.input, Dim: p.dim, Symbol: name, Coef: coef, Const: rest, Expr: e, Form: form.Text})
	return true
}

// unknown lists the sizes in e that are not bound yet.
func (b *binder) unknown(e *expr.Expr) []string {
	return slices.DeleteFunc(e.Symbols(), func(name string) bool { return b.known[name] || !b.sizes[name] })
}

func (b *binder) step(s opdef.Step) { b.steps[b.at] = append(b.steps[b.at], s) }

// retry tries the waiting dims again until none makes progress.
func (b *binder) retry() {
	for before := -1; before != len(b.pending); {
		before = len(b.pending)
		b.pending = slices.DeleteFunc(b.pending, b.solve)
	}
}

// refuse reports the dims that no input solves.
func (b *binder) refuse() {
	for _, p := range b.pending {
		arg := b.op.Inputs[p.input]
		e := arg.Type.Dims[p.dim].Expr
		unknown := b.unknown(resolve(b.expand(e), b.chosen))
		if len(unknown) == 0 || b.open {
			continue
		}
		b.untold(p.input, e, unknown...)
		for _, name := range unknown { // said once
			b.known[name] = true
		}
	}
	b.pending = nil
}

// untold reports a dim with sizes that no input tells, for this choice of dims.
func (b *binder) untold(input int, e *expr.Expr, sizes ...string) {
	where := ""
	if when := b.condition(); when != nil {
		where = " if " + when.Text
	}
	path := tomldoc.Join(tomldoc.Element("inputs", input), "type")
	b.diags.Add(b.doc.In(path, e.Col), code.Unsolvable, "let some input have "+sizes[0]+" as a dim of its own"+where,
		"%s: no input tells %s%s", e.Text, strings.Join(sizes, " or "), where)
}

// keepOptional notes the sizes that only this optional input binds, and refuses those of an earlier one.
func (b *binder) keepOptional(name string, required map[string]bool) {
	for _, size := range keys(b.known) {
		if required[size] {
			continue
		}
		if first := b.fromOptional[size]; first != "" && first != name {
			i := b.op.InputIndex(name)
			b.optionalOnly(size, b.doc.At(tomldoc.Join(tomldoc.Element("inputs", i), "type")), use{})
		} else {
			b.fromOptional[size] = name
		}
	}
}
