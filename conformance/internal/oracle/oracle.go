// Package oracle gives the expected values of a call, and compares results with them.
//
// The expected values come from the definition's reference, which is evaluated in float64 by NumPy in a process of its own.
// The allowed distance, in units in the last place (ulp), is derived from the dtypes and from the length of sums.
package oracle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/system/rpc"
)

// Oracle evaluates the reference of a definition.
type Oracle interface {
	// Reference evaluates in float64; in float32 to see where intermediate results leave its range, in longdouble to see where
	// float64 has too few digits, and in others of the worker's.
	Reference(ctx context.Context, c *cases.Case, precision string) ([]Expected, error)
	// Differences differentiates the reference numerically.
	Differences(ctx context.Context, c *cases.Case, cotangents []*ndarray.Array, inputs []int) ([]FiniteDifferences, error)
}

// Python asks the NumPy worker, once per case.
type Python struct {
	Worker *rpc.Worker
	// Formulas evaluates independent formulas, which may import frameworks; nil leaves them to Worker.
	Formulas *rpc.Worker
	Cache    map[[sha256.Size]byte][]Expected
	// cached is how many values the cache has.
	cached int
	// hung are the errors of references that gave no answer in time.
	hung map[*opdef.Op]error
}

// ReferenceError says that the reference of an op gives nothing to compare with: it raised, or its process died.
type ReferenceError struct {
	Op  string
	err error
}

// Error names the op.
func (e *ReferenceError) Error() string { return fmt.Sprintf("reference of %s: %v", e.Op, e.err) }

// Unwrap is what went wrong.
func (e *ReferenceError) Unwrap() error { return e.err }

// Reference evaluates the reference on the inputs as rounded to their dtypes.
func (o *Python) Reference(ctx context.Context, c *cases.Case, precision string) ([]Expected, error) {
	request, p := ReferenceRequest(c, precision)
	key := CacheKey(request, p.Blobs)
	if have, ok := o.Cache[key]; ok {
		return have, nil
	}
	if failed := o.hung[c.Op]; failed != nil {
		return nil, failed // it would hang again
	}
	m, err := o.Worker.Call(ctx, request, p.Blobs)
	if err != nil {
		failed := &ReferenceError{c.Op.Name, err}
		if crash := (*rpc.CrashError)(nil); errors.As(err, &crash) && crash.Hung && ctx.Err() == nil {
			if o.hung == nil {
				o.hung = map[*opdef.Op]error{}
			}
			o.hung[c.Op] = failed
		}
		return nil, failed
	}
	out, _, err := readExpected(m)
	if err != nil {
		return nil, &ReferenceError{c.Op.Name, err}
	}
	if err := checkAnswer(c, out); err != nil {
		return nil, err
	}
	for i, s := range cases.Slots(c.Op) {
		out[i].standFor(s, c.DType(s.Type))
	}
	if err := broadcast(c, out); err != nil {
		return nil, err
	}
	if err := Fits(c, out); err != nil {
		return nil, err
	}
	zeroInvalid(c, out)
	o.keep(key, out)
	return out, nil
}

// readExpected reads an answer; missing names a module that a formula needs and that is not installed.
func readExpected(m rpc.Message) (out []Expected, missing string, err error) {
	var answer struct {
		Error, Missing string
		Outputs        []struct {
			Shape    []int64
			Integers []*big.Int
			Absent   bool
		}
	}
	if err := json.Unmarshal(m.Header, &answer); err != nil {
		return nil, "", err
	}
	if answer.Error != "" {
		return nil, "", errors.New(answer.Error)
	}
	for i, o := range answer.Outputs {
		out = append(out, Expected{Shape: o.Shape, Values: ndarray.Float64s(m.Blobs[i]), Integers: o.Integers, Absent: o.Absent})
	}
	return out, answer.Missing, nil
}

// checkAnswer holds the answer of a reference against the slots of its op: None stands exactly where there is nothing
// to give.
func checkAnswer(c *cases.Case, got []Expected) error {
	list := cases.Slots(c.Op)
	if len(got) != len(list) {
		return &ReferenceError{c.Op.Name, fmt.Errorf("it returns %d arrays, want %d", len(got), len(list))}
	}
	for i, s := range list {
		if has := c.Has(s); got[i].Absent == has {
			return &ReferenceError{c.Op.Name, fmt.Errorf("%s: %s", s.Name, map[bool]string{true: "expected an array, got None", false: "expected None, got an array"}[has])}
		}
	}
	return nil
}

// zeroInvalid zeroes the rows of an answer that mean nothing, as the library does under test.
func zeroInvalid(c *cases.Case, got []Expected) {
	for i, out := range c.Op.Outputs {
		if out.Valid == "" || got[i].Absent || len(got[i].Shape) == 0 || got[i].Shape[0] == 0 {
			continue
		}
		by := slices.IndexFunc(c.Op.Outputs, func(a opdef.Arg) bool { return a.Name == out.Valid })
		rows := float64(got[i].Shape[0])
		if shape, err := c.ShapeOf(&c.Op.Outputs[i]); err == nil {
			rows = float64(shape[0]) // of elements, which may hold several numbers
		}
		row := len(got[i].Values) / int(rows)
		if count := got[by].Values; len(count) == 1 && count[0] >= 0 && count[0] <= rows {
			got[i].zero(int(count[0]) * row)
		}
	}
}

// broadcast gives the answer for what has "..." the leading dims of the call: a reference may return a single row for all.
func broadcast(c *cases.Case, got []Expected) error {
	for i, s := range cases.Slots(c.Op) {
		if got[i].Absent || s.Type.Lead() != opdef.Broadcast {
			continue
		}
		shape, err := c.ShapeOfNumbers(s.Arg)
		if err != nil {
			return err
		}
		values, fit := cases.BroadcastTo(shape, got[i].Shape, got[i].Values)
		if !fit {
			continue
		}
		if got[i].Integers != nil {
			got[i].Integers, _ = cases.BroadcastTo(shape, got[i].Shape, got[i].Integers)
		}
		got[i].Shape, got[i].Values = shape, values
	}
	return nil
}

// Fits refuses answers with other shapes than those of what the op writes, or beyond its range. The author is told once, by the reference's name,
// and not by each result that is compared with it.
func Fits(c *cases.Case, got []Expected) error {
	for i, s := range cases.Slots(c.Op) {
		if !c.Has(s) {
			continue
		}
		shape, err := c.ShapeOfNumbers(s.Arg)
		if err != nil {
			return err
		}
		if !slices.Equal(got[i].Shape, shape) {
			return &ReferenceError{c.Op.Name, fmt.Errorf("%s: expected shape %s, it returns shape %s", s.Name, rule.List(shape), rule.List(got[i].Shape))}
		}
		if text := beyond(c, s.Arg, got[i]); text != "" {
			return &ReferenceError{c.Op.Name, fmt.Errorf("%s: %s", s.Name, text)}
		}
	}
	return nil
}

// ReferenceRequest gives the reference its inputs, attrs and lets by name.
func ReferenceRequest(c *cases.Case, precision string) (map[string]any, *calls.Packer) {
	p := &calls.Packer{}
	arguments := map[string]calls.Tagged{}
	order := []string{}
	give := func(name string, v calls.Tagged) {
		arguments[name] = v
		order = append(order, name)
	}
	for i := range c.Inputs {
		value := calls.Tagged{"none": nil}
		if a := c.Given(i); a != nil {
			value = p.Array(&calls.Tensor{Array: a.Dense()})
		}
		in := &c.Op.Inputs[i]
		switch {
		case in.In == "":
			give(in.Name, value)
		case in.At == 0:
			give(in.In, calls.Tagged{"list": []calls.Tagged{value}})
		default:
			list, _ := arguments[in.In]["list"].([]calls.Tagged)
			arguments[in.In]["list"] = append(list, value)
		}
	}
	for i := range c.Op.Attrs {
		give(c.Op.Attrs[i].Name, p.Value(AttrValue(c, i)))
	}
	for _, l := range c.Op.Lets {
		v, _ := c.Int(l.Name)
		give(l.Name, p.Value(v))
	}
	text, module := c.Op.Reference, false
	if c.Op.ReferenceModule != "" {
		text, module = c.Op.ReferenceModule, true
	}
	return map[string]any{
		"do": "reference", "file": c.Op.File, "text": text, "module": module, "precision": precision,
		"arguments": arguments, "order": order, "lists": calls.ListsOf(c.Op), "free": freeIntegers(c), "packs": packed(c), "complex": complexResults(c),
	}, p
}

// AttrValue is the value of an attr that the reference sees: defaults filled in, expressions computed, dtypes by name.
func AttrValue(c *cases.Case, i int) any {
	a := &c.Op.Attrs[i]
	v, given := c.Attrs[a.Name]
	switch {
	case given:
	case a.DefaultExpr != nil && a.Type == "float":
		v, _ = a.DefaultExpr.EvalFloat(c)
	case a.DefaultExpr != nil:
		v, _ = a.DefaultExpr.Eval(c)
	case a.Type == "dtype":
		v = dtype.LongName(c.DefaultDType(a))
	default:
		v = a.Default
	}
	if d, ok := v.(cases.DType); ok {
		return string(d)
	}
	return v
}

// IndependentOracle is an oracle that also evaluates the author's independent formula.
type IndependentOracle interface {
	// Independent evaluates it; missing names a module that it needs and that is not installed.
	Independent(ctx context.Context, c *cases.Case) (got []Expected, missing string, err error)
	// ImportModules imports what the formula of an op needs, which may take seconds.
	ImportModules(ctx context.Context, op *opdef.Op) error
}

// ImportModules sends the formula and the names of its arguments: what else it takes are modules.
func (o *Python) ImportModules(ctx context.Context, op *opdef.Op) error {
	_, err := cmp.Or(o.Formulas, o.Worker).Call(ctx, map[string]any{
		"do": "modules", "file": op.File, "text": op.Module, "order": op.ReferenceNames(),
	}, nil)
	return err
}

// Independent evaluates the function independent of the neighbouring file.
func (o *Python) Independent(ctx context.Context, c *cases.Case) (got []Expected, missing string, err error) {
	request, p := ReferenceRequest(c, "float64")
	request["do"], request["text"], request["module"] = "independent", c.Op.Module, true
	m, err := cmp.Or(o.Formulas, o.Worker).Call(ctx, request, p.Blobs)
	if err == nil {
		got, missing, err = readExpected(m)
	}
	if err != nil {
		return nil, "", fmt.Errorf("independent formula of %s: %w", c.Op.Name, err)
	}
	return got, missing, nil
}
