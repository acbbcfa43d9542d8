package conformance

func checkPairs(t *T) error {
	others := t.others()
	if len(others) == 0 {
		return skip("no other framework has a function for this op")
	}
	return t.eachCase(func(d dtypes) []plan { return valuePlans(t.Op, d) }, func(c *Case) error {
		_, mine, err := t.right(t.Caller, c)
		if err != nil {
			return err
		}
		return forEach(others, func(other Caller) error {
			theirs, err := t.baseline(other, c)
			if err != nil {
				return err
			}
			t.paired(c, mine, theirs, other.Name())
			return nil
		})
	})
}

// others are the frameworks after the present one that have a function for the op: every pair comes once.
func (t *T) others() []Caller {
	var out []Caller
	for _, c := range t.env.callers {
		if c.Name() > t.Caller.Name() && t.env.foreign.offers(t.Op, c.Name()) {
			out = append(out, c)
		}
	}
	return out
}

// paired compares two results of one call and keeps the distances, as errors of one against the other.
func (t *T) paired(c *Case, mine, theirs *Result, other string) {
	for i, o := range mine.present() {
		name, bound := slots(t.Op)[i].Name, boundOf(c, i)
		got, want := o.Array, theirs.Outputs[i].Array
		if want == nil || got.DType != want.DType || list(got.Shape) != list(want.Shape) {
			t.Fail(newCall(c), c.Name, "%s: got %s%s, %s gives something else", name, got.DType.Long, list(got.Shape), other)
			continue
		}
		twice := Bound{2 * bound.ULPs, 2 * bound.Abs, 2 * bound.Rel}
		found := inspect(got, Expected{Shape: want.Shape, Values: want.Floats()}, nil, twice)
		if t.env.ulps != nil {
			key := measuredKey{t.Op.Name, t.Caller.Name() + " against " + other, "", t.row().dtypes, name}
			t.env.ulps.add(key, got, &found, twice)
		}
		if text := found.text(name, got, twice); text != "" {
			t.Fail(newCall(c), c.Name, "%s, of %s", text, other)
		}
	}
}
