package timing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
	"github.com/opcast/opcast/internal/results/bench"
)

// tuneRequest asks a worker to time a kernel with each choice of its parameters.
type tuneRequest struct {
	request
	// Kernels are the names by which the choices are forced; the first is the default.
	Kernels []string `json:"kernels"`
}

// tuneAnswer is what a worker tells: the architecture, and nanoseconds of every round for each choice.
type tuneAnswer struct {
	Unsupported string
	Error       *calls.CallError
	Arch        string
	Samples     [][]float64
}

// Gain is how much faster than the default a choice has to be, at least, to be taken instead of it: in the quartile of rounds
// in which it gained least, so that noise changes nothing.
const Gain = 1.01

// TuneResult is what a run of Tune has found.
type TuneResult struct {
	// Tuned has the rows of all workloads; its architecture is that of the device.
	opdef.Tuned
	LeftOut []bench.LeftOut
}

// Tune measures which parameters of kernels are best for the workloads of the ops: through the first adaptor that can be used,
// with one number of threads.
func Tune(ctx context.Context, o Options) (out *TuneResult, err error) {
	r, err := begun(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.startFirst(ctx); err != nil {
		return nil, err
	}
	out = &TuneResult{Tuned: opdef.Tuned{Machine: cmp.Or(r.result.Machine.GPU, r.result.Machine.CPU), Date: r.result.Date[:len("2006-01-02")]}}
	for _, op := range o.Ops {
		for i := range op.Kernels {
			k := &op.Kernels[i]
			if len(k.Params) == 0 || !k.On(cases.KindOf(o.Device)) {
				continue
			}
			if err := r.tuneKernel(ctx, op, k, out); err != nil {
				return nil, err
			}
		}
	}
	out.LeftOut = r.result.LeftOut
	return out, nil
}

// startFirst brings up what makes samples, and a process for the first adaptor that is there.
func (r *run) startFirst(ctx context.Context) error {
	adaptors := r.Adaptors
	r.Adaptors = nil
	if err := r.start(ctx); err != nil {
		return err
	}
	var reasons []string
	for _, adaptor := range adaptors {
		missing, err := r.startProcess(ctx, adaptor, r.Threads[0])
		if err != nil || missing == "" {
			return err
		}
		reasons = append(reasons, adaptor+": "+missing)
	}
	return fmt.Errorf("no adaptor %w: %v", ErrMissing, reasons)
}

// tuneKernel measures a kernel in all workloads of its op.
func (r *run) tuneKernel(ctx context.Context, op *opdef.Op, k *opdef.Kernel, out *TuneResult) error {
	if len(op.Workloads) == 0 {
		r.result.LeftOut = append(r.result.LeftOut, bench.LeftOut{Op: op.Name, Reason: "the definition has no workloads"})
	}
	for _, w := range workload.Calls(op) {
		c, err := r.made(w)
		if err != nil {
			r.result.LeftOut = append(r.result.LeftOut, bench.LeftOut{Op: op.Name, Workload: w.Name, Reason: err.Error()})
			continue
		}
		if c.Refuses(k) {
			continue // another kernel runs it
		}
		fmt.Fprintf(r.Progress, "%s by %s, %s: %v\n", op.Name, k.Name, w.Name, w)
		a, err := r.askTuned(ctx, k, w, c)
		if err != nil {
			return err
		}
		if a != nil {
			row := a.row(k, w, c)
			row.Op, row.Kernel, row.Workload = op.Name, k.Name, w.Name
			out.Arch, out.Rows = a.Arch, append(out.Rows, row)
		}
		debug.FreeOSMemory()
	}
	return nil
}

// askTuned has the process measure all choices of a call; nil where it could not, which is noted.
func (r *run) askTuned(ctx context.Context, k *opdef.Kernel, w workload.Call, c *cases.Case) (*tuneAnswer, error) {
	p := r.processes[0]
	left := bench.LeftOut{Op: baseName(w.Op), Workload: w.Name, Caller: p.adaptor, Threads: p.threads}
	q, blobs := r.newRequest(p, c)
	q.Do = "tune"
	names := make([]string, 0, opdef.MaxChoices)
	for _, choice := range k.Choices() {
		names = append(names, k.WithParams(choice))
	}
	var a tuneAnswer
	if answered, err := r.ask(ctx, p, left, tuneRequest{q, names}, blobs, &a); !answered {
		return nil, err
	}
	switch {
	case a.Error != nil:
		left.Reason, left.Failed = a.Error.String(), true
	case a.Unsupported != "" || len(a.Samples) != len(names):
		left.Reason = a.Unsupported
	default:
		return &a, nil
	}
	r.result.LeftOut = append(r.result.LeftOut, left)
	return nil, nil
}

// row is the call with the choice that was best.
func (a *tuneAnswer) row(k *opdef.Kernel, w workload.Call, c *cases.Case) opdef.TunedRow {
	best := a.best()
	row := opdef.TunedRow{
		DTypes: map[string]string{}, Sizes: map[string]int64{}, Params: map[string]int64{},
		TimeNS: rounded(a.Samples[best]), DefaultNS: rounded(a.Samples[0]),
	}
	for _, d := range c.Op.DTypes {
		row.DTypes[d.Name] = c.DTypes[d.Name]
	}
	for _, size := range tunedSizes(c.Op) {
		if row.Sizes[size], _ = w.Int(size); !bound(w, size) {
			row.Sizes[size] = 0 // as kernels get it
		}
	}
	for i, value := range k.Choices()[best] {
		row.Params[k.Params[i].Name] = value
	}
	return row
}

// bound says whether an input that a call has tells a size: the product of leading dims always is.
func bound(w workload.Call, size string) bool {
	return size == opdef.Batch || slices.ContainsFunc(w.Op.Steps, func(s opdef.Step) bool {
		return s.Kind == opdef.BindSize && s.Symbol == size && w.Given(w.Op.Inputs[s.Input].Name)
	})
}

// tunedSizes are those of the op as it is declared: of one that stands for lists of certain lengths, too.
func tunedSizes(op *opdef.Op) []string {
	if op.InstanceOf != nil {
		return op.InstanceOf.TunedSizes()
	}
	return op.TunedSizes()
}

// best is the choice with the least median, or the default, unless it clearly loses.
func (a *tuneAnswer) best() int {
	best := 0
	for i := range a.Samples {
		if len(a.Samples[i]) == len(a.Samples[0]) && bench.SpreadOf(a.Samples[i]).Median < bench.SpreadOf(a.Samples[best]).Median {
			best = i
		}
	}
	if bench.Ratios(a.Samples[0], a.Samples[best]).Low < Gain {
		return 0
	}
	return best
}

// rounded is the median of samples without digits that no clock has.
func rounded(samples []float64) float64 {
	return slices.Max([]float64{1, float64(int64(bench.SpreadOf(samples).Median))})
}
