package timing

import (
	"context"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/trial"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/bench"
)

// overheadRequest asks a worker what a call costs beside the bare one of the same export.
type overheadRequest struct {
	calls.WireCall
	Do         string                  `json:"do"`
	Attributes map[string]calls.Tagged `json:"attributes"`
	// Bare is the call of the export, whose blobs follow the Own ones of the op.
	Bare    calls.WireCall `json:"bare"`
	Own     int            `json:"own"`
	Threads int            `json:"threads"`
	Rounds  int            `json:"rounds"`
	Seconds float64        `json:"seconds"`
}

// overheads are what a worker answers: nanoseconds of every round, and what Python has done in a call.
type overheads struct {
	Unsupported             string
	Error                   *calls.CallError
	Samples, Bare           []float64
	Frames, CCalls, Opcodes float64
}

// tiny is a call with arrays as small as those of the suite.
func (r *run) tiny(op *opdef.Op) (*cases.Case, error) {
	made, err := trial.New(cases.Tested(op), trial.Request{Device: r.Device, Sampler: r.samplers[op.Name]})
	if err != nil {
		return nil, err
	}
	return made.Case, nil
}

// newOverheadRequest packs a call twice: as an adaptor takes it, and as the export does.
func (r *run) newOverheadRequest(p *process, c *cases.Case) (overheadRequest, [][]byte, error) {
	wire, blobs := calls.PublicCall(calls.New(c))
	call := calls.New(c)
	var err error
	if call.Out, err = calls.OutputArrays(c, true, func(a *ndarray.Array) *ndarray.Array { return a }); err != nil {
		return overheadRequest{}, nil, err
	}
	arrays, err := c.Scratch()
	if err != nil {
		return overheadRequest{}, nil, err
	}
	call.Scratch = calls.TensorsOf(arrays)
	bare, own := calls.BackendCall(call)
	return overheadRequest{
		WireCall: wire, Do: "overhead", Attributes: map[string]calls.Tagged{}, Bare: bare, Own: len(blobs), Threads: p.threads,
		Rounds: r.Rounds, Seconds: r.Seconds,
	}, append(blobs, own...), nil
}

// allCalls measures the call of every op through every process with one thread: of more there is no use in a call of tiny
// arrays.
func (r *run) allCalls(ctx context.Context) error {
	for _, op := range r.Ops {
		c, err := r.tiny(op)
		if err != nil {
			r.result.LeftOut = append(r.result.LeftOut, bench.LeftOut{Op: op.Name, Reason: err.Error()})
			continue
		}
		for _, p := range r.processes {
			if p.threads != r.processes[0].threads {
				continue
			}
			fmt.Fprintf(r.Progress, "%s: a call through %s\n", op.Name, p.adaptor)
			if err := r.overhead(ctx, p, op, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// overhead has one process measure a call, and notes the figures, or why there are none.
func (r *run) overhead(ctx context.Context, p *process, op *opdef.Op, c *cases.Case) error {
	left := bench.LeftOut{Op: op.Name, Caller: p.adaptor}
	q, blobs, err := r.newOverheadRequest(p, c)
	if err != nil {
		left.Reason = err.Error()
		r.result.LeftOut = append(r.result.LeftOut, left)
		return nil
	}
	var a overheads
	if answered, err := r.ask(ctx, p, left, q, blobs, &a); !answered {
		return err
	}
	switch {
	case a.Error != nil:
		left.Reason, left.Failed = a.Error.String(), true
	case a.Unsupported != "" || len(a.Samples) == 0 || len(a.Bare) == 0:
		left.Reason = a.Unsupported
	default:
		r.result.Figures = append(r.result.Figures, a.figures(op.Name, p.adaptor)...)
		return nil
	}
	r.result.LeftOut = append(r.result.LeftOut, left)
	return nil
}

// figures are what a worker has found.
func (a *overheads) figures(op, adaptor string) []bench.Figure {
	place := bench.CallFigures + "/" + op + "/" + adaptor + "/"
	ratio, time := bench.Ratios(a.Samples, a.Bare), bench.SpreadOf(a.Samples)
	count := func(name, what string, n float64) bench.Figure {
		return bench.Figure{
			Name: place + name, What: what + " in a call of " + op + " through " + adaptor, Unit: "calls", Better: bench.Less, Exact: true,
			Value: &bench.Spread{Low: n, Median: n, High: n},
		}
	}
	figures := []bench.Figure{
		{
			Name: place + "ratio", What: "a call of " + op + " with tiny arrays through " + adaptor, Unit: bench.Ratio, Value: &ratio,
			Beside: "the bare call of tvm-ffi with outputs that exist", Better: bench.Less,
		},
		{Name: place + "time", What: "a call of " + op + " with tiny arrays through " + adaptor, Unit: bench.Nanoseconds, Value: &time, Better: bench.Less},
		count("frames", "Python functions that run", a.Frames),
		count("c_calls", "functions in C that Python calls", a.CCalls),
		count("bytecodes", "instructions of Python's", a.Opcodes),
	}
	figures[4].Unit = "instructions"
	return figures
}
