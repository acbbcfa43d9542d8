package conformance

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

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/rule"
)

// Wanted says which call of an op somebody wants to try; what it leaves out is chosen as for a case of the suite.
type Wanted struct {
	// Shapes and DTypes (short names) of inputs by name; Without are the optional inputs that are left out.
	Shapes  map[string][]int64
	DTypes  map[string]string
	Without []string
	Attrs   map[string]any
	// Kernel, if given, has to take the dtypes that are chosen.
	Kernel, Device string
	// Hollow arrays have no elements behind their shapes.
	Hollow bool
}

// Trial is one call of an op, with the reference's answer to it.
type Trial struct {
	Case     *Case
	expected []Expected
}

// NewTrial makes the call that is wanted. Shapes that fit no call give the error that the call would raise.
func NewTrial(op *opdef.Op, w Wanted) (*Trial, error) {
	chosen, err := w.choose(op)
	if err != nil {
		return nil, err
	}
	p := plan{name: "run", dtypes: chosen, attrs: w.Attrs, without: w.Without, batch: baseBatch, unbounded: true, hollow: w.Hollow}
	p.sizes, p.batch = w.bind(op, p)
	if err := w.affordable(op, p); err != nil {
		return nil, err
	}
	c, err := newCase(op, p)
	if errors.Is(err, errNoSizes) {
		if fault := rule.Check(op, w.call(op, chosen, nil)); fault != nil {
			return nil, errors.New(fault.Class + ": " + fault.Text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Name, err)
	}
	if fault := rule.Check(op, w.call(op, chosen, c)); fault != nil {
		return nil, errors.New(fault.Class + ": " + fault.Text)
	}
	return &Trial{Case: c}, nil
}

// maxBytes is what the arrays of a trial may need together: they are made here, and once more where the op runs.
const maxBytes = 4 << 30

// affordable refuses given shapes whose arrays could not be made.
func (w Wanted) affordable(op *opdef.Op, p plan) error {
	c := &Case{Op: op, DTypes: p.dtypes, Attrs: w.Attrs, Sizes: p.sizes, Batch: p.batch}
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
	if total > maxBytes && !w.Hollow {
		return fmt.Errorf("%s: the arrays of this call need %.3g GiB, at most %d can be tried", op.Name, total/(1<<30), maxBytes>>30)
	}
	return nil
}

// choose finds dtypes for all variables: as given, the others the first that some kernel takes.
func (w Wanted) choose(op *opdef.Op) (dtypes, error) {
	// Where no kernel takes them, the library has the better words.
	for _, d := range slices.Concat(combinations(op, w.Device), declared(op)) {
		fits := w.Kernel == "" || slices.Contains(kernelsFor(op, w.Device, d), w.Kernel)
		for i := range op.Inputs {
			in := &op.Inputs[i]
			if short, given := w.DTypes[in.Name]; given && in.Type.Var != "" {
				fits = fits && d[in.Type.Var] == short
			}
		}
		fits = fits && w.bindsRight(op, d)
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

// bindsRight says whether the dtype attrs, given or by default, are what the choice of dtypes says.
func (w Wanted) bindsRight(op *opdef.Op, d dtypes) bool {
	c := &Case{Op: op, DTypes: d}
	for i := range op.Attrs {
		a := &op.Attrs[i]
		if a.Binds == "" {
			continue
		}
		want := DType(long(d[a.Binds]))
		if v, given := w.Attrs[a.Name].(DType); given && v != want {
			return false
		} else if !given && a.HasDefault && c.defaultDType(a) != d[a.Binds] {
			return false
		}
	}
	return true
}

// bind reads sizes and leading dims off the given shapes. Shapes that contradict each other or the definition show later.
func (w Wanted) bind(op *opdef.Op, p plan) (map[string]int64, []int64) {
	c := &Case{Op: op, DTypes: p.dtypes, Attrs: w.Attrs, Sizes: map[string]int64{}}
	batch := p.batch
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
func solve(c *Case, s opdef.Step, n int64) {
	coefficient, err := s.Coef.Eval(c)
	if err != nil || coefficient == 0 {
		return
	}
	constant, err := s.Const.Eval(c)
	if err == nil && (n-constant)%coefficient == 0 {
		c.Sizes[s.Symbol] = (n - constant) / coefficient
	}
}

// call is the wanted call as the rules see it; a case fills in the shapes that are not given.
func (w Wanted) call(op *opdef.Op, chosen dtypes, c *Case) rule.Call {
	call := rule.Call{Framework: "array", Inputs: map[string]rule.Value{}, Attrs: map[string]any{}}
	for i := range op.Inputs {
		in := &op.Inputs[i]
		if slices.Contains(w.Without, in.Name) {
			continue
		}
		short := (&Case{Op: op, DTypes: chosen}).DType(in.Type).Short
		if given := w.DTypes[in.Name]; given != "" {
			short = given
		}
		shape, given := w.Shapes[in.Name]
		if !given && c != nil {
			shape = c.Inputs[i].Shape
		}
		call.Inputs[in.Name] = rule.Value{Given: given || c != nil, DType: long(short), Device: w.Device, Shape: shape}
	}
	for name, v := range w.Attrs {
		if d, isDType := v.(DType); isDType {
			v = string(d)
		}
		call.Attrs[name] = v
	}
	return call
}

// Results are zeroed arrays for all that the call writes: one per output, then one per overwritten input. One is nil where
// the output does not exist.
func (t *Trial) Results() ([]*ndarray.Array, error) { return t.Case.results() }

// Scratch are zeroed arrays for the op's scratch.
func (t *Trial) Scratch() ([]*ndarray.Array, error) { return t.Case.scratch() }

// Attr is the value of an attr; nil where the backend computes it.
func (t *Trial) Attr(name string) any { return t.Case.attr(name) }

// Record looks the reference's answer up in a folder, or asks Python for it and keeps it there.
func (t *Trial) Record(ctx context.Context, python, dir string) (err error) {
	request, packed := referenceRequest(t.Case, "float64")
	key := cacheKey(request, packed.blobs)
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
	if err := os.WriteFile(path, data.Bytes(), 0o644); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// evaluate starts a worker for one reference.
func evaluate(ctx context.Context, python string, c *Case) (expected []Expected, err error) {
	s := &session{options: Options{Project: &opdef.Project{}, Python: python}}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.temp, err = os.MkdirTemp("", "opcast-run-"); err != nil {
		return nil, fmt.Errorf("worker folder: %w", err)
	}
	if err := writeWorker(s.temp); err != nil {
		return nil, err
	}
	w, err := s.worker("reference", "")
	if err != nil {
		return nil, err
	}
	oracle := &remoteOracle{worker: w, cache: map[[sha256.Size]byte][]Expected{}}
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
func (t *Trial) Judge(got []*ndarray.Array) []Verdict {
	var out []Verdict
	for i, s := range slots(t.Case.Op) {
		if !t.Case.has(s) {
			continue
		}
		result := got[0]
		if got = got[1:]; result.Len() == 0 {
			continue
		}
		bound := boundOf(t.Case, i)
		worst := inspect(result, t.expected[i], nil, bound).worst
		out = append(out, Verdict{
			Name: s.Name, Index: result.Index(worst.at), Got: worst.got, Want: worst.want,
			ULPs: worst.distance / worst.spacing, Share: worst.share, Allowed: bound.String(), OK: worst.excess <= 0,
		})
	}
	return out
}

// DTypeOf finds a dtype by its short or long name.
func DTypeOf(name string) (dtype.DType, bool) {
	if d, ok := dtype.Lookup(name); ok {
		return d, true
	}
	return longLookup(name)
}
