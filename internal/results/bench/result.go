// Package bench holds what a run of opcast bench has measured: statistics, tables, a page, and the comparison of two runs.
//
// It calls nothing. Workers take the samples (package conformance/internal/timing).
package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Schema is the version of the file; it rises when a field changes its meaning or goes.
const Schema = 1

// Result is one run.
type Result struct {
	Schema     int    `json:"schema"`
	Collection string `json:"collection"`
	Version    string `json:"version"`
	// Date is when the run began, in UTC, as RFC 3339 has it.
	Date    string  `json:"date"`
	Machine Machine `json:"machine"`
	// Versions are those of Python and of the frameworks, by name.
	Versions map[string]string `json:"versions"`
	// Commands are those that measured; a result that was put together has several.
	Commands []string `json:"commands,omitempty"`
	Rows     []Row    `json:"rows"`
	// Figures are numbers that are about no workload.
	Figures []Figure `json:"figures,omitempty"`
	// LeftOut is what was to be measured and was not.
	LeftOut []LeftOut `json:"left_out"`
}

// Machine is where a run took place.
type Machine struct {
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	System string `json:"system"`
	// Device is where arrays lay: "cpu", "cuda" or "rocm".
	Device string `json:"device"`
	// GPU is its name, where the device is one and its driver tells.
	GPU string `json:"gpu,omitempty"`
}

// Hardware names the processor, and the GPU that was measured.
func (m *Machine) Hardware() string {
	text := fmt.Sprintf("%s, %d CPUs", m.CPU, m.CPUs)
	if m.GPU != "" {
		return m.GPU + ", " + text
	}
	return text
}

// Key says what a row is about. No two rows of a run have the same.
type Key struct {
	Op       string `json:"op"`
	Workload string `json:"workload"`
	DType    string `json:"dtype"`
	// Caller is the adaptor.
	Caller  string `json:"caller"`
	Threads int    `json:"threads"`
	// Device is the kind of GPU that computed: "cuda" or "rocm"; empty for the CPU.
	Device string `json:"device,omitempty"`
}

// String names a row in sentences.
func (k Key) String() string {
	if k.Device != "" {
		return fmt.Sprintf("%s %s through %s, on %s", k.Op, k.Workload, k.Caller, k.Device)
	}
	return fmt.Sprintf("%s %s through %s, %s", k.Op, k.Workload, k.Caller, threads(k.Threads))
}

func threads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// Row is one call, measured.
type Row struct {
	Key
	// Swept says which size of which workload has been varied; nil for workloads as they are.
	Swept *Swept `json:"swept,omitempty"`
	// Call says what the workload is made of.
	Call   string `json:"call"`
	Rounds int    `json:"rounds"`
	// Time is how long a call takes, in nanoseconds.
	Time Spread `json:"time_ns"`
	// Copy is how fast the copy through memory was in the same rounds, in bytes read and written per nanosecond, which is
	// GB/s; BesideCopy is the time of the call divided by that of the copy.
	Copy       Spread `json:"copy_gbs"`
	BesideCopy Spread `json:"beside_copy"`
	// Bytes are those of all arguments and results; nil where contents decide how much is read. Flops are operations; nil
	// where the definition does not say.
	Bytes *int64 `json:"bytes"`
	Flops *int64 `json:"flops"`
	// OnGPU is measured on GPUs only.
	OnGPU
	Peers []Peer `json:"peers"`
}

// OnGPU is what is measured of a call on a GPU beside its time there.
type OnGPU struct {
	// Peak is how fast a large matrix product of bfloat16 was, in operations per nanosecond, which is GFLOP/s.
	Peak *Spread `json:"peak_gflops,omitempty"`
	// Host is what an eager call costs the host, in nanoseconds, without waiting for the GPU.
	Host *Spread `json:"host_ns,omitempty"`
	// Eager says why the calls were not captured in a graph; their time then includes the gaps between launches.
	Eager string `json:"eager,omitempty"`
}

// Swept is a workload in which a size has another value.
type Swept struct {
	Workload string `json:"workload"`
	Size     string `json:"size"`
	Value    int64  `json:"value"`
}

// Peer is something else that computes the same, measured in the same rounds.
type Peer struct {
	Name string `json:"name"`
	// Time is in nanoseconds; Ratio is the time of the peer divided by that of the op. Both are nil where Missing says why.
	Time  *Spread `json:"time_ns"`
	Ratio *Spread `json:"ratio"`
	// Slow says that it took so long that there is one sample.
	Slow    bool   `json:"slow,omitempty"`
	Missing string `json:"missing,omitempty"`
	OnGPU
}

// LeftOut says what was not measured, and why. Without a workload, it is about all of the op; without an op, about a caller.
type LeftOut struct {
	Op       string `json:"op,omitempty"`
	Workload string `json:"workload,omitempty"`
	Caller   string `json:"caller,omitempty"`
	Threads  int    `json:"threads,omitempty"`
	Reason   string `json:"reason"`
	// Failed says that the op itself did not do what it should.
	Failed bool `json:"failed,omitempty"`
}

// String is one line.
func (l LeftOut) String() string {
	text := ""
	for _, word := range []string{l.Op, l.Workload} {
		if word != "" {
			text += word + " "
		}
	}
	switch {
	case l.Caller != "" && text == "":
		text = l.Caller + " "
	case l.Caller != "":
		text += "through " + l.Caller + " "
	}
	if l.Threads > 0 {
		text += "with " + threads(l.Threads) + " "
	}
	return text[:max(len(text)-1, 0)] + ": " + l.Reason
}

// Best is the fastest peer; nil where there is none.
func (r *Row) Best() *Peer {
	var best *Peer
	for i := range r.Peers {
		p := &r.Peers[i]
		if p.Time != nil && (best == nil || p.Time.Median < best.Time.Median) {
			best = p
		}
	}
	return best
}

// Bandwidth is in bytes per nanosecond, which is GB/s; false where nobody knows the bytes.
func (r *Row) Bandwidth() (float64, bool) { return rate(r.Bytes, r.Time) }

// Rate is in operations per nanosecond, which is GFLOP/s; false where nobody knows the operations.
func (r *Row) Rate() (float64, bool) { return rate(r.Flops, r.Time) }

// Roof is the part of the hardware's limit that a call reaches: of the copy's bandwidth, or of the rate of the large matrix
// product, whichever is more. False where neither is known.
func (r *Row) Roof() (float64, bool) {
	share, known := 0.0, false
	if v, ok := r.Bandwidth(); ok && r.Copy.Median > 0 {
		share, known = v/r.Copy.Median, true
	}
	if v, ok := r.Rate(); ok && r.Peak != nil {
		share, known = max(share, v/r.Peak.Median), true
	}
	return share, known
}

func rate(amount *int64, time Spread) (float64, bool) {
	if amount == nil || time.Median <= 0 {
		return 0, false
	}
	return float64(*amount) / time.Median, true
}

// Failed says whether an op did not do what it should.
func (r *Result) Failed() bool {
	for _, l := range r.LeftOut {
		if l.Failed {
			return true
		}
	}
	return false
}

// ErrNoResult means that a file holds no result that can be read.
var ErrNoResult = errors.New("no result of opcast bench")

// Read reads a result from a file.
func Read(path string) (*Result, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoResult, err)
	}
	return Parse(path, data)
}

// Parse reads a result from the text of a file.
func Parse(path string, data []byte) (*Result, error) {
	r := &Result{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrNoResult, err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("%s: %w of schema %d: it has schema %d", path, ErrNoResult, Schema, r.Schema)
	}
	for i := range r.Rows {
		if !r.Rows[i].sound() {
			return nil, fmt.Errorf("%s: %w: its row of %v has spreads that no run measures", path, ErrNoResult, r.Rows[i].Key)
		}
	}
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Name == "" || f.Value != nil && !f.Value.counted() {
			return nil, fmt.Errorf("%s: %w: its figure %q has a spread that no run measures", path, ErrNoResult, f.Name)
		}
	}
	return r, nil
}

// sound says whether a row has what comparisons divide by.
func (r *Row) sound() bool {
	for _, p := range r.Peers {
		if (p.Time == nil) != (p.Ratio == nil) || p.Time != nil && (!p.Time.positive() || !p.Ratio.positive()) {
			return false
		}
	}
	return r.BesideCopy.positive()
}
