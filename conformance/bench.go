package conformance

import (
	"context"

	"github.com/opcast/opcast/conformance/internal/timing"
	"github.com/opcast/opcast/internal/results/bench"
)

// What a benchmark measures: the workloads of definitions, or what calls of tiny arrays cost.
const (
	BenchWorkloads = timing.Workloads
	BenchCalls     = timing.Calls
)

// BenchOptions say what to measure.
type BenchOptions = timing.Options

// TuneResult says which parameters of kernels are best.
type TuneResult = timing.TuneResult

// ErrNoTiming means that an adaptor which was asked for cannot be measured here.
var ErrNoTiming = timing.ErrMissing

// Bench measures. If the context ends, the result has what was measured until then, and comes with an error.
func Bench(ctx context.Context, o BenchOptions) (*bench.Result, error) { return timing.Run(ctx, o) }

// Tune measures which parameters of kernels are best for the workloads of the ops.
func Tune(ctx context.Context, o BenchOptions) (*TuneResult, error) { return timing.Tune(ctx, o) }

// Machine describes the machine as results of benchmarks do.
func Machine(device string) bench.Machine { return timing.Machine(device) }
