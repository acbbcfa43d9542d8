// Package trial makes one call of an op, with inputs that a person asked for, and the answer of its reference.
package trial

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/workload"
	"github.com/opcast/opcast/internal/system/safefile"
)

// Request says which call of an op somebody wants to try; what it leaves out is chosen as for a case of the suite.
type Request struct {
	// Shapes and DTypes (short names) of inputs by name; Without are the optional inputs that are left out.
	Shapes  map[string][]int64
	DTypes  map[string]string
	Without []string
	Attrs   map[string]any
	// Kernel, if given, has to take the dtypes that are chosen.
	Kernel, Device string
	// NoData arrays have no elements behind their shapes.
	NoData bool
	// Sampler makes contents in the author's place; nil means that they are random.
	Sampler cases.Sampler
}

// Take takes over what a workload says.
func (w *Request) Take(call workload.Call) error {
	w.Without = append(w.Without, call.Without...)
	maps.Copy(w.Attrs, call.Attrs)
	for _, a := range call.Op.Attrs {
		if short, chosen := call.DTypes[a.Binds]; chosen {
			w.Attrs[a.Name] = cases.DType(dtype.LongName(short))
		}
	}
	for _, in := range call.Op.Inputs {
		if !call.Given(in.Name) {
			continue
		}
		shape, err := call.Shape(in.Type)
		if err != nil {
			return fmt.Errorf("%s: workload %s: %w", call.Op.Name, call.Name, err)
		}
		w.Shapes[in.Name], w.DTypes[in.Name] = shape, call.DType(in.Type)
	}
	return nil
}

// Names says whether the request has a shape or a dtype for an input.
func (w Request) Names(input string) bool {
	_, shaped := w.Shapes[input]
	_, typed := w.DTypes[input]
	return shaped || typed
}

// Call is one call of an op, with the reference's answer to it.
type Call struct {
	Case     *cases.Case
	expected []oracle.Expected
}

// New makes the call that is wanted. Shapes that fit no call give the error that the call would raise.
func New(op *opdef.Op, w Request) (*Call, error) {
	chosen, err := w.chooseDTypes(op)
	if err != nil {
		return nil, err
	}
	attrs := &cases.Case{Op: op, DTypes: chosen, Attrs: map[string]any{}}
	maps.Copy(attrs.Attrs, w.Attrs)
	attrs.RequiredAttrs() // they may choose dims, so that sizes follow from them
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if _, given := attrs.Attrs[a.Name]; !given && op.Switches(a) {
			attrs.Attrs[a.Name] = a.Default // else cases have all results
		}
	}
	w.Attrs = attrs.Attrs
	p := cases.Plan{Name: "run", DTypes: chosen, Attrs: w.Attrs, Without: w.Without, Batch: cases.BaseBatch, Unbounded: true, NoData: w.NoData, Sampler: w.Sampler}
	p.Sizes, p.Batch = w.bindSizes(op, p)
	p.Leads = w.leads(op, p.Batch)
	if err := w.affordable(op, p); err != nil {
		return nil, err
	}
	c, err := cases.New(op, p)
	if errors.Is(err, cases.ErrNoSizes) {
		return nil, w.impossible(op, p)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Name, err)
	}
	if expected := rule.Check(op, w.ruleCall(op, chosen, c)); expected != nil {
		return nil, raised(expected)
	}
	return &Call{Case: c}, nil
}

// maxBytes is what the arrays of a trial may need together: they are made here, and once more where the op runs.
const maxBytes = 4 << 30

// affordable refuses given shapes whose arrays could not be made.
func (w Request) affordable(op *opdef.Op, p cases.Plan) error {
	c := &cases.Case{Op: op, DTypes: p.DTypes, Attrs: w.Attrs, Sizes: p.Sizes, Batch: p.Batch, Leads: p.Leads}
	total := 0.0
	for _, arg := range slices.Concat(op.Inputs, op.Outputs, op.Scratch) {
		shape, err := c.ShapeOf(&arg)
		if err != nil {
			continue // of a size that is not known yet, or of none: the rules say so
		}
		bytes := float64(ndarray.ItemSize(c.DType(arg.Type)))
		for _, n := range shape {
			bytes *= float64(n)
		}
		total += bytes
	}
	if total > maxBytes && !w.NoData {
		return fmt.Errorf("%s: the arrays of this call need %.3g GiB, at most %d can be tried", op.Name, total/(1<<30), maxBytes>>30)
	}
	return nil
}

// Results are zeroed arrays for all that the call writes: one per output, then one per overwritten input. One is nil where
// the output does not exist.
func (t *Call) Results() ([]*ndarray.Array, error) { return t.Case.ZeroResults() }

// Scratch are zeroed arrays for the op's scratch.
func (t *Call) Scratch() ([]*ndarray.Array, error) { return t.Case.Scratch() }

// Attr is the value of an attr; nil where the backend computes it.
func (t *Call) Attr(name string) any { return t.Case.Attr(name) }

// Record looks the reference's answer up in a folder, or asks Python for it and keeps it there. The reference may take as long
// as the limit; zero stands for no limit. The root is the project's folder.
func (t *Call) Record(ctx context.Context, python, root, dir string, limit time.Duration) (err error) {
	request, packed := oracle.ReferenceRequest(t.Case, "float64")
	key := oracle.CacheKey(request, packed.Blobs)
	path := filepath.Join(dir, hex.EncodeToString(key[:12])+".expected")
	if data, err := os.ReadFile(path); err == nil && gob.NewDecoder(bytes.NewReader(data)).Decode(&t.expected) == nil && oracle.Fits(t.Case, t.expected) == nil {
		return nil
	}
	if t.expected, err = evaluate(ctx, python, root, t.Case, limit); err != nil {
		return err
	}
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(t.expected); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return safefile.In(dir, func(root *os.Root) error {
		_, err := safefile.Write(root, filepath.Base(path), data.Bytes())
		return err
	})
}

// referencePlace is where the reference of an op is written.
func referencePlace(op *opdef.Op) string {
	if op.ReferenceModule != "" {
		return op.ReferenceFile
	}
	return fmt.Sprintf("%s:%d", op.File, op.Pos["reference"].Line)
}

// Verdict is the judgement of one result.
type Verdict struct {
	Name string
	// Index is the place of the worst element, Got and Want its value and the reference's, ULPs their distance, Share
	// the same in units of what is allowed.
	Index       []int64
	Got, Want   string
	ULPs, Share float64
	// Allowed is the bound in words, such as "1 ulp". Bad is how many of the Len elements do not keep it.
	Allowed  string
	Bad, Len int64
}

// zeroInvalid zeroes the rows of results that mean nothing, as the recorded answer has them.
func zeroInvalid(op *opdef.Op, results map[string]*ndarray.Array) {
	for _, out := range op.Outputs {
		rows, by := results[out.Name], results[out.Valid]
		if rows == nil || by == nil || rows.Len() == 0 {
			continue
		}
		if count := by.Floats()[0]; count >= 0 && int64(count) <= rows.Shape[0] {
			clear(rows.Data[int64(len(rows.Data))/rows.Shape[0]*int64(count):])
		}
	}
}

// Judge compares what the call wrote, absent outputs left out, with the recorded answer. Empty results have no verdict.
func (t *Call) Judge(got []*ndarray.Array) []Verdict {
	var out []Verdict
	results := map[string]*ndarray.Array{}
	for _, s := range cases.Slots(t.Case.Op) {
		if t.Case.Has(s) {
			results[s.Name], got = got[0], got[1:]
		}
	}
	zeroInvalid(t.Case.Op, results)
	for i, s := range cases.Slots(t.Case.Op) {
		result := results[s.Name]
		if result == nil || result.Len() == 0 {
			continue
		}
		result = t.expected[i].Numbers(result)
		bound := oracle.ToleranceOf(t.Case, i)
		found := oracle.Inspect(result, t.expected[i], nil, bound)
		worst := found.Worst
		out = append(out, Verdict{
			Name: s.Name, Index: found.Index(result), Got: found.GotText(result), Want: found.WantText(result),
			ULPs: worst.Distance / worst.Spacing, Share: worst.Share, Allowed: bound.String(), Bad: found.Bad, Len: found.Len(result),
		})
	}
	return out
}
