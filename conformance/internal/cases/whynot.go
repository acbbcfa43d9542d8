package cases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Obstacle is a part of a definition for which a plan has no sizes.
type Obstacle struct {
	// Text names the part: `require "N % G == 0"`.
	Text string
	// Fault says what is wrong with it for every size: that it does not hold, or that it has no value.
	Fault string
	// Broken is the condition that it is, if it has a value and does not hold; nil for others.
	Broken *expr.Expr
	// Values are the sizes and attrs of it that are fixed, "N = 5, G = 0 (the default)"; Open the sizes that were searched.
	Values string
	Open   []string
}

// String says all of it.
func (o *Obstacle) String() string {
	text := o.Text + " " + o.Fault
	if o.Values != "" {
		text += " with " + o.Values
	}
	if len(o.Open) > 0 {
		text += ", whatever " + strings.Join(o.Open, " and ") + " is among the sizes that are tried"
	}
	return text
}

const doesNotHold = "does not hold"

// part is something of a definition that has to be right for some sizes.
type part struct {
	text  string
	exprs []*expr.Expr
	fault func(c *Case) string
}

// FindObstacle says why a plan has no sizes: the first part of the definition that none of the searched sizes fulfils. It is
// nil where each part can be fulfilled, though not all at once.
func FindObstacle(op *opdef.Op, p Plan) *Obstacle {
	c := &Case{Op: op, DTypes: p.DTypes, Batch: p.Batch, Attrs: map[string]any{}, Sizes: map[string]int64{}}
	for name, v := range p.Attrs {
		c.Attrs[name] = v
	}
	c.RequiredAttrs()
	for _, x := range parts(op) {
		for name, n := range p.Sizes {
			c.Sizes[name] = n
		}
		var open []string
		for _, name := range symbolsOf(op, x.exprs) {
			if _, fixed := p.Sizes[name]; !fixed && slices.Contains(Symbols(op), name) {
				open = append(open, name)
			}
		}
		tries := 0
		if fault := x.everywhere(c, open, &tries); fault != "" {
			o := &Obstacle{Text: x.text, Fault: fault, Values: c.fixed(x.exprs, open), Open: open}
			if fault == doesNotHold {
				o.Broken = x.exprs[0]
			}
			return o
		}
		clear(c.Sizes)
	}
	return nil
}

// parts are what has to have a value, and conditions, in the order in which a call meets them.
func parts(op *opdef.Op) (out []part) {
	for _, e := range op.Requires {
		out = append(out, part{fmt.Sprintf("require %q", e.Text), []*expr.Expr{e}, func(c *Case) string {
			switch v, err := e.Eval(c); {
			case err != nil:
				return c.noValue(err)
			case v == 0:
				return doesNotHold
			}
			return ""
		}})
	}
	for _, args := range [][]opdef.Arg{op.Inputs, op.Outputs, op.Scratch} {
		for i := range args {
			a := &args[i]
			out = append(out, part{fmt.Sprintf("the shape of %s, %s,", a.Name, a.Type.Text), dims(a), func(c *Case) string {
				if _, err := c.Shape(a.Type); err != nil {
					return c.noValue(err)
				}
				return ""
			}})
		}
	}
	return out
}

// noValue says why something has no value; a name that has none says it itself.
func (c *Case) noValue(err error) string {
	for _, l := range c.Op.Lets {
		if _, failed := l.Expr.Eval(c); failed != nil {
			return fmt.Sprintf("has no value (%s = %v)", l.Name, failed)
		}
	}
	return fmt.Sprintf("has no value (%v)", err)
}

func dims(a *opdef.Arg) (out []*expr.Expr) {
	for _, d := range a.Type.Dims {
		if d.Expr != nil {
			out = append(out, d.Expr)
		}
	}
	return out
}

// everywhere is what is wrong with a part for all values of the open sizes; empty if it is right for some.
func (x *part) everywhere(c *Case, open []string, tries *int) (fault string) {
	if len(open) == 0 {
		*tries++
		return x.fault(c)
	}
	for _, n := range slices.Concat(Candidates(c.Op, open[0], 0), standardSizes) {
		c.Sizes[open[0]] = n
		if fault = x.everywhere(c, open[1:], tries); fault == "" || *tries > MaxTries {
			return fault
		}
	}
	return fault
}

// symbolsOf are the names in expressions, and in the lets that they use.
func symbolsOf(op *opdef.Op, list []*expr.Expr) (out []string) {
	for _, e := range list {
		for _, name := range op.Needs(e) {
			if i := slices.IndexFunc(op.Lets, func(l opdef.Let) bool { return l.Name == name }); i >= 0 {
				out = append(out, symbolsOf(op, []*expr.Expr{op.Lets[i].Expr})...)
			} else if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return slices.Compact(out)
}

// fixed lists the values in expressions beside the open sizes.
func (c *Case) fixed(list []*expr.Expr, open []string) string {
	var out []string
	for _, name := range symbolsOf(c.Op, list) {
		if slices.Contains(open, name) {
			continue
		}
		var v any
		n, known := c.Int(name)
		if v = n; !known {
			v = c.Attr(name)
		}
		text := fmt.Sprintf("%s = %v", name, v)
		if _, given := c.Attrs[name]; !given && slices.ContainsFunc(c.Op.Attrs, func(a opdef.Attr) bool { return a.Name == name }) {
			text += " (the default)"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
