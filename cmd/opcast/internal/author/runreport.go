package author

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/cmd/opcast/internal/runner"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/rule"
)

// report prints what ran, how right it is and how long it took. A result beyond its bound is a finding.
func (r *run) report(ctx context.Context, dir string, timing runner.Timing, call *runner.Call) error {
	got, err := call.Results(dir)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s by %s on %s: %s\n", r.op.Name, timing.Kernel, r.flags.device, r.describe())
	right := len(timing.Outside) == 0
	for _, place := range timing.Outside {
		fmt.Fprintln(&text, place)
	}
	lacks := withReference(r.env)
	if err := r.trial.Record(ctx, r.env.Python, r.project.Dir, dir, r.flags.timeout); err != nil {
		right = false
		fmt.Fprintf(&text, "not compared: %v\n", err)
	} else {
		for _, v := range r.trial.Judge(got) {
			right = right && v.Bad == 0
			fmt.Fprintf(&text, "%s: %s\n", v.Name, verdict(v))
		}
	}
	if timing.Median > 0 {
		fmt.Fprintf(&text, "time: %s (fastest %s of %d calls), %.3g GB/s%s\n", roundDuration(timing.Median),
			roundDuration(timing.Fastest), r.flags.repeat, float64(call.Moved())/timing.Median.Seconds()/1e9, r.operations(timing.Median))
	}
	if _, err := fmt.Fprint(r.Stdout, text.String()); err != nil {
		return err
	}
	switch {
	case !right && lacks != nil:
		return lacks
	case !right:
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}

// withReference says what the environment lacks to evaluate references; nil if nothing.
func withReference(env *pyenv.Env) error { return env.Require("numpy") }

func verdict(v conformance.Verdict) string {
	state := "ok"
	if v.Bad > 0 {
		state = fmt.Sprintf("WRONG, %d of %d elements", v.Bad, v.Len)
	}
	return fmt.Sprintf("%s, at most %.3g ulp off, %.2g of the allowed %s: at %s got %v, want %v",
		state, v.ULPs, v.Share, v.Allowed, rule.List(v.Index), v.Got, v.Want)
}

// operations is how many operations a call makes per second, where the definition says how many it has.
func (r *run) operations(each time.Duration) string {
	if r.op.Flops == nil {
		return ""
	}
	n, err := r.trial.Case.Flops()
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", %.3g GFLOP/s", float64(n)/each.Seconds()/1e9)
}

// roundDuration rounds a duration to three digits.
func roundDuration(d time.Duration) string {
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
			parts = append(parts, r.op.Inputs[i].Name+" "+array.DType.Long+rule.List(array.Shape))
		}
	}
	return strings.Join(parts, ", ")
}
