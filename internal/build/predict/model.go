package predict

import (
	"fmt"
	"math"

	"github.com/opcast/opcast/internal/build/sass"
)

// Estimate is what is predicted of one launch.
type Estimate struct {
	// Kernel is the short name of the function; empty for a fill or a copy.
	Kernel string `json:"kernel"`
	// Time is in ns: the largest of Times, whose name Bound is.
	Time  float64            `json:"time_ns"`
	Bound string             `json:"bound"`
	Times map[string]float64 `json:"times_ns"`
	// Instructions are those of all warps. Occupancy is the part of a multiprocessor's threads that are there at once, Waves how
	// often the device is filled with blocks, InFlight what a multiprocessor reads at once in bytes.
	Instructions float64 `json:"instructions"`
	Occupancy    float64 `json:"occupancy"`
	Waves        float64 `json:"waves"`
	InFlight     float64 `json:"in_flight"`
	Registers    int     `json:"registers"`
}

// The resources of a device that may decide how long a launch takes, in the order in which they are told.
var resources = []string{"hbm", "l2", "latency", "issue", "lsu", "xu", "fp64", "tensor", "launch"}

// Of predicts one launch of a kernel.
func (c *Chip) Of(f *sass.Function, l *Launch, w Work, cold float64) Estimate {
	warpsOfBlock := math.Ceil(float64(l.Threads()) / warp)
	blocks := float64(l.Blocks())
	resident := float64(occupancy(c, f, l))
	e := Estimate{Kernel: f.Short(), Registers: f.Registers, Waves: blocks / (float64(c.SMs) * resident)}
	e.Occupancy = resident * warpsOfBlock * warp / float64(c.Threads)
	there := min(blocks, float64(c.SMs)*resident) // blocks that are there at once
	sms := c.busy(blocks, resident)
	t := runs(f, w, blocks*warpsOfBlock)
	e.Instructions = t.instructions
	warpsOfSM := there / float64(min(int64(c.SMs), l.Blocks())) * warpsOfBlock
	issuing := min(4, warpsOfSM) // schedulers that have a warp
	e.Times = map[string]float64{
		"hbm":    cold / c.HBM,
		"l2":     t.moved / c.L2,
		"issue":  t.instructions / (sms * issuing * c.Clock),
		"lsu":    t.lsu / (sms * c.Clock),
		"xu":     t.xu * warp / (sms * c.XU * c.Clock),
		"fp64":   t.fp64 * warp / (sms * c.FP64 * c.Clock),
		"tensor": (t.wgmma + t.tensor/c.WarpMMA) / (c.Tensor * sms / float64(c.SMs)),
		"launch": c.Launch,
	}
	if bytes := inFlight(f); bytes > 0 {
		e.InFlight = warpsOfSM * warp * bytes
		e.Times["latency"] = w.Loads / (there * warpsOfBlock * warp * bytes) * c.Latency
	}
	e.decide()
	return e
}

// Moved predicts a fill or a copy by CUDA's runtime.
func (c *Chip) Moved(bytes int64) Estimate {
	e := Estimate{Times: map[string]float64{"hbm": float64(bytes) / c.HBM, "launch": c.Launch}}
	e.decide()
	return e
}

// decide takes the largest time.
func (e *Estimate) decide() {
	for _, r := range resources {
		if t := e.Times[r]; t > e.Time {
			e.Time, e.Bound = t, r
		}
	}
}

// busy is how many multiprocessors work on average: blocks are spread evenly, and the last wave may leave some idle.
func (c *Chip) busy(blocks, resident float64) float64 {
	sms := float64(c.SMs)
	if blocks <= sms*resident {
		return blocks / math.Ceil(blocks/sms)
	}
	waves := blocks / (sms * resident)
	return sms * waves / math.Ceil(waves)
}

// inFlight is what a thread reads at once: the loads of one iteration of the hot loop that reads most.
func inFlight(f *sass.Function) float64 {
	bytes := 0
	for _, l := range f.HotLoops() {
		loads, _ := l.All.Moved()
		bytes = max(bytes, loads)
	}
	return float64(bytes)
}

// Flags are what is slow or rare in the hot loops of kernels, in an order of their own.
func Flags(list []*sass.Function) (flags []string) {
	var all sass.Mix
	spills := 0
	for _, f := range list {
		for _, l := range f.HotLoops() {
			all.Add(l.All)
		}
		spills += f.All.Spills
	}
	for _, flag := range []struct {
		name string
		on   bool
	}{
		{"generic", all.Generic > 0},
		{"call", len(all.Calls) > 0},
		{"narrow", all.Narrow > 0},
		{"fp64", all.FP64 > 0},
		{"spills", spills > 0},
		{"atomics", all.Atomics > 0},
		{"tensor", all.Tensor > 0},
	} {
		if flag.on {
			flags = append(flags, flag.name)
		}
	}
	return flags
}

// Errors of a prediction.
func lacks(kernel string) error {
	return fmt.Errorf("no machine code of %s for this architecture", sass.ShortName(kernel))
}
