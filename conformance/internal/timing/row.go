package timing

import (
	"fmt"
	"math"
	"strconv"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/workload"
	"github.com/opcast/opcast/internal/results/bench"
)

// row sums up what a worker has measured.
func row(p *process, w workload.Call, c *cases.Case, a *answer) bench.Row {
	out := bench.Row{
		Key:   bench.Key{Op: baseName(w.Op), Workload: w.Name, DType: c.DTypeNames(), Caller: p.adaptor, Threads: p.threads},
		Swept: (*bench.Swept)(w.Swept), Call: w.String(), Rounds: len(a.Samples), Time: bench.SpreadOf(a.Samples),
		Copy: bench.SpreadOf(a.Copy).Inverse(a.Copied), BesideCopy: bench.Ratios(a.Samples, a.Copy), Peers: []bench.Peer{}, OnGPU: a.row(),
	}
	if bytes, err := w.Bytes(); err == nil && !workload.ContentsDecide(w.Op) {
		out.Bytes = &bytes
	}
	if flops, err := w.Flops(); err == nil {
		out.Flops = &flops
	}
	for _, one := range a.Peers {
		out.Peers = append(out.Peers, judged(one, a.Samples))
	}
	if a.Failed != "" {
		out.Peers = append(out.Peers, bench.Peer{Name: "peers", Missing: a.Failed})
	}
	return out
}

// judged is a peer with its times, or with the reason why it does not count.
func judged(one peer, ours []float64) bench.Peer {
	out := bench.Peer{Name: one.Name, Slow: one.Slow, Missing: one.Error, OnGPU: one.row()}
	if out.Missing != "" {
		return out
	}
	if far, err := strconv.ParseFloat(one.Distance, 64); err != nil || !(far <= Farthest) {
		out.Missing = fmt.Sprintf("its results differ by %s the tolerance, at most %d times count", times(far), Farthest)
		return out
	}
	if len(one.Samples) == 0 {
		out.Missing = "it was not measured"
		return out
	}
	time, ratio := bench.SpreadOf(one.Samples), bench.Ratios(one.Samples, ours)
	if one.Slow { // its sample comes from before the first round
		median := bench.SpreadOf(ours).Median
		ratio = bench.SpreadOf([]float64{one.Samples[0] / median})
	}
	out.Time, out.Ratio = &time, &ratio
	return out
}

func times(far float64) string {
	if math.IsInf(far, 0) {
		return "infinitely many times"
	}
	return bench.Digits(far) + " times"
}
