// Package predict estimates how long calls take on a GPU, from the machine code of their kernels and from the launches that they
// make. Nothing runs on a GPU. docs/predict.md says what is computed.
package predict

import (
	"slices"
	"strings"
)

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
