package trial

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/oracle"
	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/rule"
	"github.com/opcast/opcast/internal/safefile"
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
	p := cases.Plan{Name: "run", DTypes: chosen, Attrs: w.Attrs, Without: w.Without, Batch: cases.BaseBatch, Unbounded: true, NoData: w.NoData}
	p.Sizes, p.Batch = w.bindSizes(op, p)
	if err := w.affordable(op, p); err != nil {
		return nil, err
	}
	c, err := cases.New(op, p)
	if errors.Is(err, cases.ErrNoSizes) {
		if expected := rule.Check(op, w.ruleCall(op, chosen, nil)); expected != nil {
			return nil, errors.New(expected.Class + ": " + expected.Text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Name, err)
	}
	if expected := rule.Check(op, w.ruleCall(op, chosen, c)); expected != nil {
		return nil, errors.New(expected.Class + ": " + expected.Text)
	}
	return &Call{Case: c}, nil
}

// maxBytes is what the arrays of a trial may need together: they are made here, and once more where the op runs.
const maxBytes = 4 << 30

// affordable refuses given shapes whose arrays could not be made.
func (w Request) affordable(op *opdef.Op, p cases.Plan) error {
	c := &cases.Case{Op: op, DTypes: p.DTypes, Attrs: w.Attrs, Sizes: p.Sizes, Batch: p.Batch}
	total := 0.0
	for _, arg := range slices.Concat(op.Inputs, op.Outputs, op.Scratch) {
		shape, err := c.Shape(arg.Type)
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

// chooseDTypes finds dtypes for all variables: as given, the others the first that some kernel takes.
func (w Request) chooseDTypes(op *opdef.Op) (cases.DTypes, error) {
	// Where no kernel takes them, the library has the better words.
	for _, d := range slices.Concat(cases.SupportedDTypes(op, w.Device), cases.DeclaredDTypes(op)) {
		fits := w.Kernel == "" || slices.Contains(cases.KernelsFor(op, w.Device, d), w.Kernel)
		for i := range op.Inputs {
			in := &op.Inputs[i]
			if short, given := w.DTypes[in.Name]; given && in.Type.Var != "" {
				fits = fits && d[in.Type.Var] == short
			}
		}
		fits = fits && w.attrsAgree(op, d)
		if fits {
			return d, nil
		}
	}
	kernel := "no kernel"
	if w.Kernel != "" {
		kernel = "no kernel " + w.Kernel
	}
	return nil, fmt.Errorf("%s: %s for %s takes these dtypes", op.Name, kernel, w.Device)
}

// attrsAgree says whether the dtype attrs, given or by default, are what the choice of dtypes says.
func (w Request) attrsAgree(op *opdef.Op, d cases.DTypes) bool {
	c := &cases.Case{Op: op, DTypes: d}
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if a.Binds == "" {
			continue
		}
		want := cases.DType(dtype.LongName(d[a.Binds]))
		if v, given := w.Attrs[a.Name].(cases.DType); given && v != want {
			return false
		} else if !given && a.HasDefault && c.DefaultDType(a) != d[a.Binds] {
			return false
		}
	}
	return true
}

// bindSizes reads sizes and leading dims off the given shapes. Shapes that contradict each other or the definition
// show later.
func (w Request) bindSizes(op *opdef.Op, p cases.Plan) (map[string]int64, []int64) {
	c := &cases.Case{Op: op, DTypes: p.DTypes, Attrs: w.Attrs, Sizes: map[string]int64{}}
	batch := p.Batch
	for _, s := range op.Steps {
		in := &op.Inputs[s.Input]
		shape, given := w.Shapes[in.Name]
		after := len(in.Type.Dims) - s.Dim // dims from this one to the last
		trailing := len(in.Type.Dims) - 1  // dims after the leading ones
		switch {
		case !given:
		case s.Kind == opdef.BindBatch || s.Kind == opdef.CheckBatch:
			batch = shape[:max(len(shape)-trailing, 0)]
		case len(shape) < after:
		case s.Kind == opdef.BindSize:
			solve(c, s, shape[len(shape)-after])
		case s.Expr.Op == expr.OpSymbol:
			if _, known := c.Int(s.Expr.Name); !known {
				c.Sizes[s.Expr.Name] = shape[len(shape)-after]
			}
		}
	}
	return c.Sizes, batch
}

// solve gives a step's symbol the size for which the dim is n; a dim that has no such size is left to the rules.
func solve(c *cases.Case, s opdef.Step, n int64) {
	coefficient, err := s.Coef.Eval(c)
	if err != nil || coefficient == 0 {
		return
	}
	constant, err := s.Const.Eval(c)
	if err == nil && (n-constant)%coefficient == 0 {
		c.Sizes[s.Symbol] = (n - constant) / coefficient
	}
}

// ruleCall is the wanted call as the rules see it; a case fills in the shapes that are not given.
func (w Request) ruleCall(op *opdef.Op, chosen cases.DTypes, c *cases.Case) rule.Call {
	call := rule.Call{Framework: "array", Inputs: map[string]rule.Value{}, Attrs: map[string]any{}}
	for i := range op.Inputs {
		in := &op.Inputs[i]
		if slices.Contains(w.Without, in.Name) {
			continue
		}
		short := (&cases.Case{Op: op, DTypes: chosen}).DType(in.Type).Short
		if given := w.DTypes[in.Name]; given != "" {
			short = given
		}
		shape, given := w.Shapes[in.Name]
		if !given && c != nil {
			shape = c.Inputs[i].Shape
		}
		call.Inputs[in.Name] = rule.Value{Given: given || c != nil, DType: dtype.LongName(short), Device: w.Device, Shape: shape}
	}
	for name, v := range w.Attrs {
		if d, isDType := v.(cases.DType); isDType {
			v = string(d)
		}
		call.Attrs[name] = v
	}
	return call
}

// Results are zeroed arrays for all that the call writes: one per output, then one per overwritten input. One is nil where
// the output does not exist.
func (t *Call) Results() ([]*ndarray.Array, error) { return t.Case.ZeroResults() }

// Scratch are zeroed arrays for the op's scratch.
func (t *Call) Scratch() ([]*ndarray.Array, error) { return t.Case.Scratch() }

// Attr is the value of an attr; nil where the backend computes it.
func (t *Call) Attr(name string) any { return t.Case.Attr(name) }

// Record looks the reference's answer up in a folder, or asks Python for it and keeps it there.
func (t *Call) Record(ctx context.Context, python, dir string) (err error) {
	request, packed := oracle.ReferenceRequest(t.Case, "float64")
	key := oracle.CacheKey(request, packed.Blobs)
	path := filepath.Join(dir, hex.EncodeToString(key[:12])+".expected")
	if data, err := os.ReadFile(path); err == nil && gob.NewDecoder(bytes.NewReader(data)).Decode(&t.expected) == nil {
		return nil
	}
	if t.expected, err = evaluate(ctx, python, t.Case); err != nil {
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

// evaluate starts a worker for one reference.
func evaluate(ctx context.Context, python string, c *cases.Case) (expected []oracle.Expected, err error) {
	s := &conformance.Session{Options: conformance.Options{Project: &opdef.Project{}, Python: python}}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.MakeTemp(); err != nil {
		return nil, err
	}
	w, err := s.Worker("reference", "")
	if err != nil {
		return nil, err
	}
	oracle := &oracle.Python{Worker: w, Cache: map[[sha256.Size]byte][]oracle.Expected{}}
	return oracle.Reference(ctx, c, "float64")
}

// Verdict is the judgement of one result.
type Verdict struct {
	Name string
	// Index is the place of the worst element, Got and Want its value and the reference's, ULPs their distance, Share
	// the same in units of what is allowed.
	Index                  []int64
	Got, Want, ULPs, Share float64
	// Allowed is the bound in words, such as "1 ulp"; OK says that all elements keep it.
	Allowed string
	OK      bool
}

// Judge compares what the call wrote, absent outputs left out, with the recorded answer. Empty results have no verdict.
func (t *Call) Judge(got []*ndarray.Array) []Verdict {
	var out []Verdict
	for i, s := range cases.Slots(t.Case.Op) {
		if !t.Case.Has(s) {
			continue
		}
		result := got[0]
		if got = got[1:]; result.Len() == 0 {
			continue
		}
		bound := oracle.ToleranceOf(t.Case, i)
		worst := oracle.Inspect(result, t.expected[i], nil, bound).Worst
		out = append(out, Verdict{
			Name: s.Name, Index: result.Index(worst.At), Got: worst.Got, Want: worst.Want,
			ULPs: worst.Distance / worst.Spacing, Share: worst.Share, Allowed: bound.String(), OK: worst.Excess <= 0,
		})
	}
	return out
}
