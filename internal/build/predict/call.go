package predict

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/build/sass"
)

// Array is an array of a call: its bytes, and whether the call reads and writes it. Scratch is neither an input nor a result.
type Array struct {
	Bytes          int64
	Reads, Written bool
}

// Row is the prediction of one workload.
type Row struct {
	Op       string `json:"op"`
	Workload string `json:"workload"`
	DType    string `json:"dtype"`
	// Variant is the kernel of the definition that takes the call.
	Variant string `json:"variant"`
	// Time is the sum of all launches in ns; Bound is what most of it waits for.
	Time  float64 `json:"time_ns"`
	Bound string  `json:"bound"`
	// Roofline is the part of the device's speed that the prediction is: the time that its bytes or operations need at least,
	// divided by Time. Contents says that these decide how much is read, so that both are upper bounds.
	Roofline float64 `json:"roofline"`
	Contents bool    `json:"contents,omitempty"`
	// PerElement are instructions of a thread for each element of the largest array.
	PerElement float64  `json:"instructions_per_element"`
	Launches   int      `json:"launches"`
	Flags      []string `json:"flags"`
	// Estimates are those of the launches; files that are kept leave them out.
	Estimates []Estimate `json:"estimates,omitempty"`
}

// Call is what is known of a call before anything runs.
type Call struct {
	Arrays   []Array
	Launches []Launch
	// Flops are the operations of the definition, 0 if it does not say; Elements is the largest number of elements of an array.
	Flops, Elements int64
}

// Predict estimates a call. The functions are those of the collection by their mangled names.
func (c *Chip) Predict(call *Call, functions map[string]*sass.Function) (*Row, error) {
	if len(call.Launches) == 0 {
		return nil, errors.New("the call starts nothing on the device")
	}
	row := &Row{Launches: len(call.Launches)}
	used, err := call.functions(functions)
	if err != nil {
		return nil, err
	}
	shares := call.shares(used)
	instructions, waits := 0.0, map[string]float64{}
	touched := map[int]bool{}
	for i := range call.Launches {
		l := &call.Launches[i]
		estimate := c.Moved(l.Bytes)
		if l.Kernel != "" {
			work, cold := call.work(l, touched, c)
			work.Flops = shares[i] * float64(call.Flops)
			estimate = c.Of(used[i], l, work, cold)
		}
		row.Estimates = append(row.Estimates, estimate)
		row.Time += estimate.Time
		waits[estimate.Bound] += estimate.Time
		instructions += estimate.Instructions
		for _, a := range l.Arrays {
			touched[a] = true
		}
	}
	for _, r := range resources {
		if waits[r] > waits[row.Bound] {
			row.Bound = r
		}
	}
	if call.Elements > 0 {
		row.PerElement = instructions * warp / float64(call.Elements)
	}
	row.Flags = Flags(slices.DeleteFunc(slices.Clone(used), func(f *sass.Function) bool { return f == nil }))
	return row, nil
}

// functions are those of the launches; nil for fills and copies.
func (call *Call) functions(known map[string]*sass.Function) ([]*sass.Function, error) {
	used := make([]*sass.Function, len(call.Launches))
	for i, l := range call.Launches {
		if l.Kernel == "" {
			continue
		}
		if used[i] = known[l.Kernel]; used[i] == nil {
			return nil, lacks(l.Kernel)
		}
	}
	return used, nil
}

// work is what a launch reads and writes: the arrays to which its parameters point. Scratch is written by the first launch that has
// it, and read by all others. What an earlier launch has touched is still in the L2 cache if all of it fits into half of it: cold
// are the bytes that come from memory.
func (call *Call) work(l *Launch, touched map[int]bool, c *Chip) (w Work, cold float64) {
	warm := int64(0)
	for _, i := range l.Arrays {
		if touched[i] {
			warm += call.Arrays[i].Bytes
		}
	}
	for _, i := range l.Arrays {
		a := call.Arrays[i]
		scratch := !a.Reads && !a.Written
		bytes := 0.0
		if a.Reads || scratch && touched[i] {
			w.Loads += float64(a.Bytes)
			bytes += float64(a.Bytes)
		}
		if a.Written || scratch && !touched[i] {
			w.Stores += float64(a.Bytes)
			bytes += float64(a.Bytes)
		}
		if !touched[i] || warm > c.L2Bytes/2 {
			cold += bytes
		}
	}
	return w, cold
}

// shares say which part of the call's operations each launch does: those with matrix instructions do all where there are any, and
// each as much as it has bytes.
func (call *Call) shares(used []*sass.Function) []float64 {
	tensor := slices.ContainsFunc(used, func(f *sass.Function) bool { return f != nil && f.All.Tensor > 0 })
	shares, sum := make([]float64, len(used)), 0.0
	for i, f := range used {
		if f == nil || tensor && f.All.Tensor == 0 {
			continue
		}
		for _, a := range call.Launches[i].Arrays {
			shares[i] += float64(call.Arrays[a].Bytes)
		}
		sum += shares[i]
	}
	for i := range shares {
		if sum > 0 {
			shares[i] /= sum
		}
	}
	return shares
}

// LeastTime is what the device needs at least for so many bytes and operations, in ns.
func (c *Chip) LeastTime(bytes, flops int64, onTensor bool) float64 {
	const lanes = 128 // of a multiprocessor, for float32
	rate := float64(c.SMs) * lanes * 2 * c.Clock
	if onTensor {
		rate = c.Tensor
	}
	return max(float64(bytes)/c.HBM, float64(flops)/rate)
}

// Launch is what a call starts on a device.
type Launch struct {
	// Kernel is the mangled name; empty for a fill or a copy of memory by CUDA's runtime, whose bytes are Bytes.
	Kernel               string
	Bytes                int64
	Grid, Block, Cluster [3]int
	// Shared are bytes of dynamic shared memory.
	Shared int
	// Arrays are the indices of the call's arrays to which its parameters point.
	Arrays []int
}

// Blocks and Threads are numbers of all blocks, and of the threads of one.
func (l *Launch) Blocks() int64 { return int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2]) }

// Threads are those of a block.
func (l *Launch) Threads() int { return l.Block[0] * l.Block[1] * l.Block[2] }

// span is the memory of an array.
type span struct{ begin, bytes uint64 }

// ReadRecord reads what backend/recorder writes of a call: its launches, in order.
func ReadRecord(text string) (list []Launch, err error) {
	var arrays []span
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		bad := fmt.Errorf("read the record of a call: line %q", strings.TrimSpace(line))
		switch {
		case words[0] == "memory" && len(words) == 3:
			begin, first := strconv.ParseUint(words[1], 16, 64)
			bytes, second := strconv.ParseUint(words[2], 10, 64)
			if first != nil || second != nil {
				return nil, bad
			}
			arrays = append(arrays, span{begin, bytes})
		case words[0] == "fill" && len(words) == 3 || words[0] == "copy" && len(words) == 4:
			bytes, err := strconv.ParseInt(words[len(words)-1], 10, 64)
			if err != nil {
				return nil, bad
			}
			list = append(list, Launch{Bytes: bytes})
		case words[0] == "launch" && len(words) >= 12:
			l, err := readLaunch(words[1:], arrays)
			if err != nil {
				return nil, bad
			}
			list = append(list, l)
		default:
			return nil, bad
		}
	}
	return list, nil
}

// readLaunch reads "KERNEL GRID BLOCK CLUSTER SHARED WORD...".
func readLaunch(words []string, arrays []span) (l Launch, err error) {
	l.Kernel = words[0]
	var numbers [10]int
	for i := range numbers {
		if numbers[i], err = strconv.Atoi(words[1+i]); err != nil {
			return l, err
		}
	}
	l.Grid, l.Block, l.Cluster = [3]int(numbers[:3]), [3]int(numbers[3:6]), [3]int(numbers[6:9])
	l.Shared = numbers[9]
	pointed := map[int]bool{}
	for _, word := range words[11:] {
		value, err := strconv.ParseUint(word, 16, 64)
		if err != nil {
			return l, err
		}
		for i, a := range arrays {
			if value >= a.begin && value < a.begin+max(a.bytes, 1) && !pointed[i] {
				pointed[i] = true
				l.Arrays = append(l.Arrays, i)
			}
		}
	}
	return l, nil
}
