package conformance

import (
	"math"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
)

// each runs a body for every choice of dtypes and every kernel of the device that covers it, one row each. In checks that
// cover choices, adaptors show the kernels in turn, one for each choice: what kernels do, the library's own callers show.
func (t *T) each(body func(d dtypes) error) error {
	choices := combinations(t.Op, t.env.device)
	if t.covering {
		choices = covering(t.Op, t.env.device)
	}
	if t.aboutKernels && !isBare(t.Caller) {
		choices = choices[:min(len(choices), 1)]
	}
	for i, d := range choices {
		kernels := kernelsFor(t.Op, t.env.device, d)
		if t.env.foreign != nil {
			kernels = []string{""} // what runs is for its author to choose
		}
		if t.covering && !isBare(t.Caller) {
			kernels = kernels[i%len(kernels):][:1]
		}
		for _, kernel := range kernels {
			t.Row(kernel, d.String())
			if err := proceed(body(d)); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachCase runs a body for every plan of every choice of dtypes.
func (t *T) eachCase(plans func(d dtypes) []plan, body func(c *Case) error) error {
	return t.each(func(d dtypes) error {
		planned := plans(d)
		made := t.cases(planned)
		if len(planned) > 0 && len(made) == 0 {
			return t.unreached()
		}
		return forEach(made, body)
	})
}

// valueOf calls a case and compares with the reference.
func (t *T) valueOf(c *Case) error {
	call, result, err := t.right(t.Caller, c)
	if err != nil {
		return err
	}
	if !t.shaped(call, c.Name, c, result) {
		return nil
	}
	return t.matches(call, c, result)
}

func checkValue(t *T) error {
	err := t.eachCase(func(d dtypes) []plan { return valuePlans(t.Op, d) }, t.valueOf)
	if err == nil && isBare(t.Caller) && t.env.foreign == nil {
		t.reached()
	}
	return err
}

func checkAttrs(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return attrPlans(t.Op, d) }, t.valueOf)
}

// checkDefaults passes each default explicitly, and whole numbers for float attrs as int: the bits must not change.
func checkDefaults(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		plain, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		for i := range t.Op.Attrs {
			a := &t.Op.Attrs[i]
			if v := explicitDefault(c, a); v != nil {
				if err := proceed(t.sameAs(c.withAttr(a.Name, v), plain)); err != nil {
					return err
				}
			}
			if err := proceed(t.integerFor(c, a)); err != nil {
				return err
			}
		}
		return nil
	})
}

// explicitDefault is the default of an attr that a case leaves out; nil if it has no constant one.
func explicitDefault(c *Case, a *opdef.Attr) any {
	if _, given := c.Attrs[a.Name]; given || a.DefaultExpr != nil {
		return nil
	}
	if _, isText := a.Default.(string); isText && a.Type == "dtype" {
		return DType(long(c.defaultDType(a)))
	}
	return a.Default
}

// integerFor gives a float attr 1 as a float and as an integer.
func (t *T) integerFor(c *Case, a *opdef.Attr) error {
	low, hasLow := number(a.Min)
	high, hasHigh := number(a.Max)
	if a.Type != "float" || hasLow && low > 1 || hasHigh && high < 1 {
		return nil
	}
	want, err := t.baseline(t.Caller, c.withAttr(a.Name, 1.0))
	if err != nil {
		return err
	}
	return t.sameAs(c.withAttr(a.Name, int64(1)), want)
}

// sameAs calls a case and expects the bits of an earlier result.
func (t *T) sameAs(c *Case, want *Result) error {
	call, got, err := t.right(t.Caller, c)
	if err != nil {
		return err
	}
	t.identical(call, c.Name, got, want)
	return nil
}

// identical expects two results to have the same bits, unless the definition promises no such thing.
func (t *T) identical(call *Call, name string, got, want *Result) {
	if !t.Op.Deterministic {
		return
	}
	for i, w := range want.present() {
		if got.Outputs[i].Array == nil {
			continue // a saved output, which only the backend gives
		}
		if text := sameBits(slots(t.Op)[i].Name, got.Outputs[i].Array, w.Array); text != "" {
			t.Fail(call, name, "%s", text)
		}
	}
}

// checkOptional leaves each optional input out and expects what a neutral one gives: zeros or ones, whichever the
// reference says is neutral.
func checkOptional(t *T) error {
	found := false
	err := t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		for i, in := range t.Op.Inputs {
			if !in.Optional {
				continue
			}
			absent := c.with(i, nil, "no "+in.Name)
			want, err := t.baseline(t.Caller, absent)
			if err != nil {
				return err
			}
			neutral, err := t.neutral(c, absent, i)
			if err != nil {
				return err
			}
			if neutral == nil {
				continue
			}
			found = true
			call, got, err := t.right(t.Caller, neutral)
			if err != nil {
				return err
			}
			t.equalNumbers(call, neutral.Name, got, want)
		}
		return nil
	})
	if err == nil && !found {
		return skip("no optional input has a neutral value")
	}
	return err
}

// neutral fills an input so that the reference gives what it gives without that input. It is nil where no filling does.
func (t *T) neutral(c, absent *Case, i int) (*Case, error) {
	want, err := t.env.oracle.Reference(t.ctx, absent, "float64")
	if err != nil {
		return nil, err
	}
	for _, v := range []float64{0, 1} {
		filled := ndarray.New(c.Inputs[i].DType, c.Inputs[i].Shape)
		for k := range filled.Len() {
			ndarray.PutFloat(filled.DType, filled.Data, k, v)
		}
		candidate := c.with(i, filled, "neutral "+t.Op.Inputs[i].Name)
		got, err := t.env.oracle.Reference(t.ctx, candidate, "float64")
		if err != nil {
			return nil, err
		}
		if sameValues(got, want) {
			return candidate, nil
		}
	}
	return nil, nil // no filling does
}

func sameValues(a, b []Expected) bool {
	for i := range a {
		if a[i].Absent || b[i].Absent {
			continue
		}
		if list(a[i].Shape) != list(b[i].Shape) {
			return false
		}
		for k, v := range a[i].Values {
			if v != b[i].Values[k] && !(math.IsNaN(v) && math.IsNaN(b[i].Values[k])) {
				return false
			}
		}
	}
	return len(a) == len(b)
}

// equalNumbers expects equal values; the sign of a zero may differ.
func (t *T) equalNumbers(call *Call, name string, got, want *Result) {
	for i, w := range want.present() {
		if got.Outputs[i].Array == nil {
			continue
		}
		expected := Expected{Shape: w.Shape, Values: w.Floats()}
		if text := compare(slots(t.Op)[i].Name, got.Outputs[i].Array, expected, Bound{}); text != "" {
			t.Fail(call, name, "%s", text)
		}
	}
}

// checkKeywords passes arguments by keyword, in declared and in reverse order.
func checkKeywords(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		want, err := t.baseline(t.Caller, c)
		if err != nil {
			return err
		}
		for _, style := range []Style{Keywords, Reversed} {
			call := newCall(c)
			call.Style = style
			got, err := t.Call(call, c.Name)
			if err != nil {
				return err
			}
			if got = t.succeeded(call, c.Name+", by keyword", got); got != nil {
				t.identical(call, c.Name+", by keyword", got, want)
			}
		}
		return nil
	})
}
