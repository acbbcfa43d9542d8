// Package predict estimates how long calls take on a GPU, from the machine code of their kernels and from the launches that they
// make. Nothing runs on a GPU. docs/predict.md says what is computed.
package predict

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
func Flags(list []*sass.Function) []string {
	flags := []string{}
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

// Chip is what a GPU can do at most.
type Chip struct {
	// Name is as on the command line, Arch the compute capability times 10.
	Name string
	Arch int
	// SMs are multiprocessors, Clock their highest clock in GHz.
	SMs   int
	Clock float64
	// HBM is what a copy reaches, read and written bytes per ns (GB/s); L2 what reads of the cache reach; L2Bytes is its size.
	HBM, L2 float64
	L2Bytes int64
	// Latency is that of a read from memory in ns. Launch is the least time of a kernel between others of a graph, in ns.
	Latency, Launch float64
	// Tensor are operations per ns on matrices of bfloat16, dense, by instructions of warp groups or of tensor memory; WarpMMA is
	// the part of it that the instructions of one warp (mma.sync) reach.
	Tensor, WarpMMA float64
	// FP64 are instructions on doubles, XU those of the unit for special functions, in lanes per cycle and multiprocessor.
	FP64, XU float64
	// Shared is the most shared memory of a block and of a multiprocessor in bytes, Registers the registers of a multiprocessor.
	Shared, SharedOfSM, Registers int
	// Threads and Blocks are the most that a multiprocessor holds.
	Threads, Blocks int
}

// Chips are those that predictions know. Sources: "spec" is the maker's data sheet, "measured" a run of ours or of others, "assumed"
// a value that nobody has measured for this project.
//
//   - SMs, clocks, shared memory, registers, threads, blocks, FP64 and XU: spec (CUDA C++ Programming Guide, tables of compute
//     capabilities and of arithmetic throughput; data sheets of A100, H100 SXM, H200 SXM, B200).
//   - HBM: H100 3.0 TB/s and H200 4.3 TB/s, measured by copies; A100 80 GB 1.75 of 2.04 TB/s and B200 6.9 of 8.0 TB/s, assumed.
//   - L2: A100 about 4.5 and H100 about 5.6 TB/s, measured by others with reads that hit; H200 as H100; B200 10, assumed.
//   - Latency: about 480 ns on A100, 560 on H100, by pointer chasing of others; under load more, so 700 and 800 stand here, assumed.
//   - Launch: 1.5 µs, assumed.
//   - Tensor: H100 790 TFLOPS measured with cuBLAS (spec 989); A100 280 of 312, H200 as H100, B200 1700 of 2250, assumed.
//   - WarpMMA: 0.62 on Hopper, measured by others; on Blackwell assumed as much less; all of it on Ampere.
var Chips = []Chip{
	{
		Name: "a100", Arch: 80, SMs: 108, Clock: 1.41, HBM: 1750, L2: 4500, L2Bytes: 40 << 20, Latency: 700, Launch: 1500,
		Tensor: 280e3, WarpMMA: 1, FP64: 32, XU: 16, Shared: 163 << 10, SharedOfSM: 164 << 10, Registers: 64 << 10, Threads: 2048, Blocks: 32,
	},
	{
		Name: "h100", Arch: 90, SMs: 132, Clock: 1.98, HBM: 3000, L2: 5600, L2Bytes: 50 << 20, Latency: 800, Launch: 1500,
		Tensor: 790e3, WarpMMA: 0.62, FP64: 64, XU: 16, Shared: 227 << 10, SharedOfSM: 228 << 10, Registers: 64 << 10, Threads: 2048, Blocks: 32,
	},
	{
		Name: "h200", Arch: 90, SMs: 132, Clock: 1.98, HBM: 4300, L2: 5600, L2Bytes: 50 << 20, Latency: 800, Launch: 1500,
		Tensor: 790e3, WarpMMA: 0.62, FP64: 64, XU: 16, Shared: 227 << 10, SharedOfSM: 228 << 10, Registers: 64 << 10, Threads: 2048, Blocks: 32,
	},
	{
		Name: "b200", Arch: 100, SMs: 148, Clock: 1.96, HBM: 6900, L2: 10000, L2Bytes: 126 << 20, Latency: 800, Launch: 1500,
		Tensor: 1700e3, WarpMMA: 0.3, FP64: 64, XU: 16, Shared: 227 << 10, SharedOfSM: 228 << 10, Registers: 64 << 10, Threads: 2048, Blocks: 32,
	},
}

// ChipNames are the names, for messages.
func ChipNames() string {
	var names []string
	for _, c := range Chips {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// ChipNamed finds a chip.
func ChipNamed(name string) (Chip, bool) {
	i := slices.IndexFunc(Chips, func(c Chip) bool { return c.Name == name })
	if i < 0 {
		return Chip{}, false
	}
	return Chips[i], true
}
