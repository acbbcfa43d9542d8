package workload_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
)

func TestParseSweep(t *testing.T) {
	for text, want := range map[string][]int64{
		"N=64:512": {64, 128, 256, 512}, "N=3:20": {3, 6, 12}, "N=7:7": {7}, "N=8:4": {8}, "N=1, 100,0": {1, 100, 0}, "*=5": {5},
		"N": nil, "N=": nil, "=4": nil, "N=0:8": nil, "N=-1": nil, "N=a": nil, "N=1:2:3": nil, "N=1:1e9": nil, "N=4:": nil, "N=1,2,1": nil,
		"N=" + strings.Repeat("1,", 64) + "1": nil,
	} {
		s, err := workload.ParseSweep(text)
		if want == nil {
			if err == nil {
				t.Errorf("%s: got %v, want an error", text, s)
			}
			continue
		}
		if diff := cmp.Diff(want, s.Values); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
}

// Only workloads with the size are swept, and those of the definition stay as they are.
func TestSweepOf(t *testing.T) {
	op := &opdef.Op{Name: "norm", Inputs: []opdef.Arg{{Name: "x", Type: opdef.Type{Var: "T", Dims: []opdef.Dim{{Star: true}}}}}, Workloads: []opdef.Workload{
		{Name: "wide", Sizes: map[string]int64{"N": 4096}, Batch: []int64{2, 3}},
		{Name: "none", Sizes: map[string]int64{"M": 1}, Batch: []int64{1}},
	}}
	swept, err := workload.Sweep{Size: "N", Values: []int64{1, 2}}.Of(op)
	if err != nil {
		t.Fatal(err)
	}
	want := []opdef.Workload{
		{Name: "wide(N=1)", Sizes: map[string]int64{"N": 1}, Batch: []int64{2, 3}, Swept: &opdef.Swept{Workload: "wide", Size: "N", Value: 1}},
		{Name: "wide(N=2)", Sizes: map[string]int64{"N": 2}, Batch: []int64{2, 3}, Swept: &opdef.Swept{Workload: "wide", Size: "N", Value: 2}},
	}
	if diff := cmp.Diff(want, swept.Workloads); diff != "" {
		t.Error(diff)
	}
	if op.Workloads[0].Sizes["N"] != 4096 || len(op.Workloads) != 2 {
		t.Errorf("the op has changed: %+v", op.Workloads)
	}
	if _, err := (workload.Sweep{Size: "Q", Values: []int64{1}}).Of(op); err == nil || !strings.Contains(err.Error(), "no workload of norm has a size Q: they have ") {
		t.Errorf("got %v", err)
	}
}
