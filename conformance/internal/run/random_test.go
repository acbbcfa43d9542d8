package run

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/rule"
)

// drawn describes the first calls that are drawn of an op.
func drawn(t *testing.T, op *opdef.Op, samplers map[string]cases.Sampler) (texts []string) {
	t.Helper()
	env := &check.Environment{Project: fake.Toy(t), Device: "cpu", Samplers: samplers}
	check := &check.T{Ctx: t.Context(), Env: env, Op: op, Caller: &fake.Framework{CallerName: calls.NativeName}}
	r, err := random.NewGenerator(check, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(200) {
		one, found, err := r.Draw(i)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			continue
		}
		text := fmt.Sprint(i, " ", one.Call.Probe, " ", one.Expected != nil)
		for _, x := range one.Call.Tensors() {
			text += fmt.Sprint(" ", x.Shape, x.Strides, string(x.Data))
		}
		texts = append(texts, text)
	}
	return texts
}

// The suite, which can run an author's samples, draws the calls that the process draws, which cannot: no kernel gets contents
// that its author would not make.
func TestRandomDrawsAlike(t *testing.T) {
	op := fake.ToyOp(t, "ragged")
	scale := func(sizes map[string]any, _ uint64) (map[string]cases.Sampled, error) {
		n, _ := sizes["R"].(int64)
		return map[string]cases.Sampled{"scale": {Shape: []int64{n}, Values: slices.Repeat([]float64{0.5}, int(n))}}, nil
	}
	ours, theirs := drawn(t, op, map[string]cases.Sampler{op.Name: scale}), drawn(t, op, nil)
	if !slices.Equal(ours, theirs) || len(ours) < 100 {
		t.Errorf("%d calls here, %d there, or they differ", len(ours), len(theirs))
	}
	for _, text := range ours {
		if !strings.Contains(text, "  true") {
			t.Errorf("call %.40s is not refused", text)
		}
	}
	if all := drawn(t, fake.ToyOp(t, "affine"), nil); !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "  false") }) {
		t.Error("no valid call of an op without samples")
	}
}

// What a random call raises is what the rules say: no other error, and no result in its place.
func TestRandomly(t *testing.T) {
	caller := &fake.Framework{CallerName: calls.NativeName}
	plain := &check.T{Ctx: t.Context(), Env: &check.Environment{Project: fake.Toy(t), Device: "cpu"}, Op: fake.ToyOp(t, "affine"), Caller: caller}
	c, err := cases.New(plain.Op, cases.BasePlan(cases.DTypes{"T": "f32"}))
	if err != nil {
		t.Fatal(err)
	}
	call, err := plain.PlainCall(caller, c)
	if err != nil {
		t.Fatal(err)
	}
	x := call.Inputs[0].(*calls.Tensor)
	shape := []int64{2, x.Shape[x.Rank()-1]}
	wide := ndarray.New(x.DType, []int64{shape[0], shape[1] + 1})
	call.Inputs[0] = &calls.Tensor{Array: &ndarray.Array{DType: x.DType, Shape: shape, Strides: wide.Strides, Data: wide.Data}}
	want := plain.ExpectedError(call)
	if want == nil || !strings.Contains(want.Text, "x: expected contiguous memory") {
		t.Fatalf("the layout breaks no rule: %v", want)
	}
	for name, test := range map[string]struct {
		text  string
		want  *rule.Error
		wrong bool
	}{
		"the error": {want.Text, want, false}, "another": {"affine: oops", want, true}, "no error": {"", want, true},
		"an error of a valid call": {"affine: oops", nil, true}, "a result": {"", nil, false},
	} {
		judge, result := *plain, &calls.Result{}
		if test.text != "" {
			result.Error = &calls.CallError{Class: want.Class, Text: test.text}
		}
		random.JudgeRandomCall(&judge, call, name, result, test.want)
		if failures := judge.CurrentRow().Failures; len(failures) > 0 != test.wrong {
			t.Errorf("%s: %v", name, failures)
		}
	}
}

// A list of integers is an array for the library. It is passed where its numbers are in the range of what it stands for, and
// nowhere else.
func TestRandomListsAreInRange(t *testing.T) {
	project, findings, err := load.Load(filepath.Join("testdata", "summed"))
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	caller := &fake.Framework{CallerName: calls.NativeName}
	for _, op := range project.Ops {
		if op.InputIndex("at") < 0 {
			continue
		}
		judge := &check.T{Ctx: t.Context(), Env: &check.Environment{Project: project, Device: "cpu"}, Op: op, Caller: caller}
		r, err := random.NewGenerator(judge, 0)
		if err != nil {
			t.Fatal(err)
		}
		lists := 0
		for i := range int64(3000) {
			one, found, err := r.Draw(i)
			if err != nil {
				t.Fatal(err)
			}
			if found && one.Call.Options["as"] == "a list" && one.Call.Options["at"].(int64)%int64(len(op.Outputs)+len(op.Inputs)) == int64(op.InputIndex("at")+1) {
				lists++
			}
		}
		if wanted := op.Name == "summed_anywhere"; lists > 0 != wanted {
			t.Errorf("%s: %d lists are passed as at", op.Name, lists)
		}
	}
}
