package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/runner"
)

// report prints what ran, how right it is and how long it took. A result beyond its bound is a finding.
func (r *run) report(ctx context.Context, dir string, timing runner.Timing, got []*ndarray.Array) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s by %s on %s: %s\n", r.op.Name, timing.Kernel, r.flags.device, r.describe())
	right := true
	lacks := r.env.Require("numpy")
	if _, err := r.trial.Record(ctx, r.env.Python, dir); err != nil {
		right = false
		fmt.Fprintf(&text, "not compared: %v\n", err)
	} else {
		for _, v := range r.trial.Judge(r.aligned(got)) {
			right = right && v.OK
			fmt.Fprintf(&text, "%s: %s\n", v.Name, verdict(v))
		}
	}
	if timing.Median > 0 {
		fmt.Fprintf(&text, "time: %s (fastest %s of %d calls), %.3g GB/s\n",
			short(timing.Median), short(timing.Fastest), r.flags.repeat, r.bytes()/timing.Median.Seconds()/1e9)
	}
	if _, err := fmt.Fprint(r.stdout, text.String()); err != nil {
		return err
	}
	switch {
	case !right && lacks != nil:
		return lacks
	case !right:
		return ExitError{Code: exitFindings}
	}
	return nil
}

// aligned gives every slot its result; absent outputs have none.
func (r *run) aligned(got []*ndarray.Array) []*ndarray.Array {
	slots, err := r.trial.Results()
	if err != nil {
		return got // Results worked when the call was made
	}
	for i := range slots {
		if slots[i] != nil {
			slots[i], got = got[0], got[1:]
		}
	}
	return slots
}

func verdict(v conformance.Verdict) string {
	state := "ok"
	if !v.OK {
		state = "WRONG"
	}
	index := strings.ReplaceAll(fmt.Sprint(v.Index), " ", ", ")
	return fmt.Sprintf("%s, at most %.3g ulp off, %.2g of the allowed %s: at %s got %v, want %v",
		state, v.ULPs, v.Share, v.Allowed, index, v.Got, v.Want)
}

// short rounds a duration to three digits.
func short(d time.Duration) string {
	step := time.Duration(1)
	for d/step >= 1000 {
		step *= 10
	}
	return d.Round(step).String()
}

// describe lists the inputs: "x bfloat16[128, 4096], weight bfloat16[4096]".
func (r *run) describe() string {
	var parts []string
	for i, array := range r.trial.Case.Inputs {
		if array != nil {
			shape := strings.ReplaceAll(fmt.Sprint(array.Shape), " ", ", ")
			parts = append(parts, r.op.Inputs[i].Name+" "+array.DType.Long+shape)
		}
	}
	return strings.Join(parts, ", ")
}

// bytes are those of the arrays that the call has to read or write at least once.
func (r *run) bytes() float64 {
	total := int64(0)
	results, err := r.trial.Results()
	if err != nil {
		return 0
	}
	for _, array := range slices.Concat(results, r.trial.Case.Inputs) {
		if array != nil {
			total += ndarray.Count(array.Shape) * ndarray.ItemSize(array.DType)
		}
	}
	return float64(total)
}
