package timing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/trial"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
	"github.com/opcast/opcast/internal/results/bench"
	"github.com/opcast/opcast/internal/system/rpc"
)

// request asks a worker to time a call.
type request struct {
	calls.WireCall
	Do string `json:"do"`
	// Names are those of the inputs, and Attributes the values of all attributes, also of those that the call leaves out:
	// peers need not know defaults.
	Names      []string                `json:"names"`
	Attributes map[string]calls.Tagged `json:"attributes"`
	// Text is the author's module, File its name.
	Text     string  `json:"text"`
	File     string  `json:"file"`
	Slots    []slot  `json:"slots"`
	Farthest float64 `json:"farthest"`
	Threads  int     `json:"threads"`
	Rounds   int     `json:"rounds"`
	Seconds  float64 `json:"seconds"`
}

// slot says how far a result may be off, and which result counts its rows that mean anything; -1 for none.
type slot struct {
	ULPs  float64 `json:"ulps"`
	Abs   float64 `json:"abs"`
	Rel   float64 `json:"rel"`
	Valid int     `json:"valid"`
}

// maxBytes is what the arrays of a workload may need together.
const maxBytes = 2 << 30

// How often the arrays of a workload may exist at a time: here, on their way, in the worker, and as what peers make of them.
// What authors' samples make has 64 bits, in the process that makes it and here.
const copies, copiesOfSamples = 8, 14

// affordable refuses a workload whose arrays would fill the memory, so that the system would end some process.
func affordable(bytes int64, sampled bool) error {
	times := int64(copies)
	if sampled {
		times = copiesOfSamples
	}
	gib := float64(bytes) / (1 << 30)
	if bytes > maxBytes {
		return fmt.Errorf("its arrays need %.3g GiB, at most %d can be measured", gib, maxBytes>>30)
	}
	if free, known := available(); known && bytes > free/times {
		return fmt.Errorf("its arrays need %.3g GiB, and %d times as much is not free in memory", gib, times)
	}
	return nil
}

// available is how much memory the system can give away; false where it does not say.
func available() (bytes int64, known bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(text), "MemAvailable:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); !found || err != nil {
		return 0, false
	}
	return kib << 10, true
}

// madeOf is what is called for a workload: it, or when rehearsing the smallest call of its kind.
func (r *run) madeOf(w workload.Call) (workload.Call, *cases.Case, error) {
	if !r.Rehearse {
		c, err := r.made(w)
		return w, c, err
	}
	for most := int64(smallest); ; most *= 2 {
		small := w.Small(most)
		if c, err := r.made(small); err == nil || most > largest {
			return small, c, err
		}
	}
}

// Sizes of rehearsals are at most the smallest number, or a multiple of it that is no larger than the largest, so that what
// definitions require holds.
const smallest, largest = 4, 1 << 12

// made is the call of a workload, with contents as the suite makes them.
func (r *run) made(w workload.Call) (*cases.Case, error) {
	if bytes, err := w.Bytes(); err == nil {
		if err := affordable(bytes, r.samplers[baseName(w.Op)] != nil); err != nil {
			return nil, err
		}
	}
	wanted := trial.Request{
		Shapes: map[string][]int64{}, DTypes: map[string]string{}, Attrs: map[string]any{}, Device: r.Device,
		Sampler: r.samplers[baseName(w.Op)],
	}
	if err := wanted.Take(w); err != nil {
		return nil, err
	}
	made, err := trial.New(w.Op, wanted)
	if err != nil {
		return nil, err
	}
	return made.Case, nil
}

// baseName is the name of an op, also of one that stands for calls with lists of certain lengths.
func baseName(op *opdef.Op) string {
	if op.InstanceOf != nil {
		return op.InstanceOf.Name
	}
	return op.Name
}

// newRequest packs a call.
func (r *run) newRequest(p *process, c *cases.Case) (request, [][]byte) {
	wire, blobs := calls.PublicCall(calls.New(c))
	q := request{
		WireCall: wire, Do: "measure", Attributes: map[string]calls.Tagged{}, Slots: slots(c), Farthest: Farthest,
		Threads: p.threads, Rounds: r.Rounds, Seconds: r.Seconds,
		File: filepath.Join(r.Project.Dir, strings.TrimSuffix(c.Op.File, ".toml")+".py"),
	}
	for _, in := range c.Op.Inputs {
		if in.In == "" || in.At == 0 {
			q.Names = append(q.Names, firstOf(in.In, in.Name))
		}
	}
	packer := &calls.Packer{}
	for i := range c.Op.Attrs {
		a := &c.Op.Attrs[i]
		v := oracle.AttrValue(c, i)
		if long, isText := v.(string); isText && a.Type == "dtype" {
			v = cases.DType(long)
		}
		q.Attributes[a.Name] = packer.Value(v)
	}
	if c.Op.Defines("peers") {
		q.Text = c.Op.Module
	}
	return q, blobs
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// slots describe what a call returns.
func slots(c *cases.Case) []slot {
	judged := *c
	judged.Inputs = nil
	for _, in := range c.Inputs {
		judged.Inputs = append(judged.Inputs, beginning(in))
	}
	var out []slot
	places := map[string]int{}
	for i, s := range cases.Slots(c.Op) {
		if s.Output >= 0 && s.Saved {
			continue
		}
		places[s.Name] = len(out)
		t := oracle.ToleranceOf(&judged, i)
		out = append(out, slot{t.ULPs, t.Abs, t.Rel, -1})
	}
	for _, arg := range c.Op.Returned() {
		if at, counted := places[arg.Valid]; counted {
			out[places[arg.Name]].Valid = at
		}
	}
	return out
}

// most is how many elements of an input are looked at to know how large they are.
const most = 1 << 16

// beginning is an array of the first elements of another one, which follow each other in memory.
func beginning(a *ndarray.Array) *ndarray.Array {
	if a == nil || a.Len() <= most {
		return a
	}
	size := ndarray.ItemSize(a.DType)
	part, err := ndarray.Of(a.DType, []int64{most}, a.Data[a.Offset*size:][:most*size])
	if err != nil {
		return a
	}
	return part
}

// answer is what a worker tells.
type answer struct {
	Unsupported   string
	Error         *calls.CallError
	Samples, Copy []float64
	Copied        float64
	onGPU
	Failed string
	Peers  []peer
}

// onGPU is what a worker tells beside times on a GPU; empty on the host.
type onGPU struct {
	Peak, Host []float64
	Eager      string
}

// row is what a row, or a peer of it, says about that.
func (g onGPU) row() bench.OnGPU {
	out := bench.OnGPU{Eager: g.Eager}
	if len(g.Peak) > 0 {
		peak := bench.SpreadOf(g.Peak)
		out.Peak = &peak
	}
	if len(g.Host) > 0 {
		host := bench.SpreadOf(g.Host)
		out.Host = &host
	}
	return out
}

// peer is what a worker tells about a peer.
type peer struct {
	Name, Error, Distance string
	Slow                  bool
	Samples               []float64
	onGPU
}

// measure has one process time a call, and notes the row, or why there is none.
func (r *run) measure(ctx context.Context, p *process, w workload.Call, c *cases.Case) error {
	left := bench.LeftOut{Op: baseName(w.Op), Workload: w.Name, Caller: p.adaptor, Threads: p.threads}
	q, blobs := r.newRequest(p, c)
	var a answer
	if answered, err := r.ask(ctx, p, left, q, blobs, &a); !answered {
		return err
	}
	if a.Unsupported != "" || a.Error != nil {
		left.Reason, left.Failed = a.Unsupported, a.Error != nil
		if a.Error != nil {
			left.Reason = a.Error.String()
		}
		r.result.LeftOut = append(r.result.LeftOut, left)
		return nil
	}
	one := row(p, w, c, &a)
	if r.Device != "cpu" {
		one.Device = r.Device
	}
	r.result.Rows = append(r.result.Rows, one)
	if r.Keep == nil {
		return nil
	}
	return r.Keep(r.result)
}

// ask has a process measure, and reads what it answers. A crash is noted as what was left out.
func (r *run) ask(ctx context.Context, p *process, left bench.LeftOut, q any, blobs [][]byte, answer any) (answered bool, err error) {
	m, err := p.Worker.CallWithin(ctx, limit+time.Duration(r.Seconds*float64(time.Second)), q, blobs)
	if crash := (*rpc.CrashError)(nil); errors.As(err, &crash) && ctx.Err() == nil {
		left.Reason, left.Failed = crash.Reason, true
		r.result.LeftOut = append(r.result.LeftOut, left)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(m.Header, answer); err != nil {
		return false, fmt.Errorf("read times: %w", err)
	}
	return true, nil
}
