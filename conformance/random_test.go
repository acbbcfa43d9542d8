package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// drawn describes the first calls that are drawn of an op.
func drawn(t *testing.T, op *opdef.Op, samplers map[string]sampler) (texts []string) {
	t.Helper()
	env := &environment{project: toy(t), device: "cpu", samplers: samplers}
	check := &T{ctx: t.Context(), env: env, Op: op, Caller: &fake{name: nativeName}}
	r, err := newRandomizer(check, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(200) {
		one, found, err := r.draw(i)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			continue
		}
		text := fmt.Sprint(i, " ", one.call.Probe, " ", one.want != nil)
		for _, x := range one.call.tensors() {
			text += fmt.Sprint(" ", x.Shape, x.Strides, string(x.Data))
		}
		texts = append(texts, text)
	}
	return texts
}

// The suite, which can run an author's samples, draws the calls that the process draws, which cannot: no kernel gets contents
// that its author would not make.
func TestRandomDrawsAlike(t *testing.T) {
	op := toyOp(t, "ragged")
	scale := func(sizes map[string]any, _ uint64) (map[string]sampled, error) {
		n, _ := sizes["R"].(int64)
		return map[string]sampled{"scale": {Shape: []int64{n}, Values: slices.Repeat([]float64{0.5}, int(n))}}, nil
	}
	ours, theirs := drawn(t, op, map[string]sampler{op.Name: scale}), drawn(t, op, nil)
	if !slices.Equal(ours, theirs) || len(ours) < 100 {
		t.Errorf("%d calls here, %d there, or they differ", len(ours), len(theirs))
	}
	for _, text := range ours {
		if !strings.Contains(text, "  true") {
			t.Errorf("call %.40s is not refused", text)
		}
	}
	if all := drawn(t, toyOp(t, "affine"), nil); !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "  false") }) {
		t.Error("no right call of an op without samples")
	}
}

// Of two faults either may be told, but nothing else, and one must be.
func TestRandomly(t *testing.T) {
	caller := &fake{name: nativeName}
	plain := &T{ctx: t.Context(), env: &environment{project: toy(t), device: "cpu"}, Op: toyOp(t, "affine"), Caller: caller}
	c, err := newCase(plain.Op, base(dtypes{"T": "f32"}))
	if err != nil {
		t.Fatal(err)
	}
	call, err := plain.call(caller, c)
	if err != nil {
		t.Fatal(err)
	}
	x := call.Inputs[0].(*Tensor)
	shape := []int64{2, x.Shape[x.Rank()-1]}
	wide := ndarray.New(x.DType, []int64{shape[0], shape[1] + 1})
	call.Inputs[0] = &Tensor{Array: &ndarray.Array{DType: x.DType, Shape: shape, Strides: wide.Strides, Data: wide.Data}}
	layout := layoutFault(caller, call)
	if layout == nil {
		t.Fatal("the layout is no fault")
	}
	want := &rule.Fault{Class: layout.Class, Text: "affine: w: expected shape [1], got [2]"}
	for name, test := range map[string]struct {
		text  string
		want  *rule.Fault
		wrong bool
	}{
		"the layout": {layout.Text, nil, false}, "the layout first": {layout.Text, want, false}, "the rule first": {want.Text, want, false},
		"anything": {"affine: oops", want, true}, "another layout": {"affine: oops", nil, true},
		"no error": {"", nil, true}, "no error of two": {"", want, true},
	} {
		judge, result := *plain, &Result{}
		if test.text != "" {
			result.Error = &CallError{Class: layout.Class, Text: test.text}
		}
		judge.randomly(call, name, result, test.want)
		if failures := judge.row().failures; len(failures) > 0 != test.wrong {
			t.Errorf("%s: %v", name, failures)
		}
	}
}
