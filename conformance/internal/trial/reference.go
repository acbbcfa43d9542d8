package trial

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/run"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/system/rpc"
)

// Reference makes the call that is wanted, with the contents of the op's author, and asks the reference alone.
func Reference(ctx context.Context, python, root string, op *opdef.Op, w Request, limit time.Duration) (t *Call, err error) {
	err = asking(ctx, python, root, op, limit, func(within context.Context, o *oracle.Python) error {
		w.Sampler = o.Samplers(within, []*opdef.Op{op})[op.Name]
		if t, err = New(op, w); err != nil {
			return err
		}
		t.expected, err = o.Reference(within, t.Case, "float64")
		return err
	})
	return t, err
}

// unlimited is longer than anybody waits for a reference.
const unlimited = 1000 * time.Hour

// evaluate starts a worker for one reference.
func evaluate(ctx context.Context, python, root string, c *cases.Case, limit time.Duration) (expected []oracle.Expected, err error) {
	err = asking(ctx, python, root, c.Op, limit, func(within context.Context, o *oracle.Python) error {
		expected, err = o.Reference(within, c, "float64")
		return err
	})
	return expected, err
}

// asking starts a worker that runs what the author of an op wrote, and ends it.
func asking(ctx context.Context, python, root string, op *opdef.Op, limit time.Duration, ask func(context.Context, *oracle.Python) error) (err error) {
	pool := run.NewPool(run.Options{Subject: run.Subject{Project: &opdef.Project{Dir: root}}, Effort: run.Effort{Python: python, Timeout: unlimited}})
	defer func() { err = errors.Join(err, pool.Close()) }()
	w, err := pool.NewReference()
	if err != nil {
		return err
	}
	if _, err := w.Start(ctx); err != nil { // its imports are not the reference's
		return fmt.Errorf("reference of %s: %w", op.Name, err)
	}
	o := &oracle.Python{Worker: w, Cache: map[[sha256.Size]byte][]oracle.Expected{}}
	if err := o.ImportModules(ctx, op); err != nil {
		return err
	}
	within := ctx
	if limit > 0 {
		var end context.CancelFunc
		within, end = context.WithTimeout(ctx, limit)
		defer end()
	}
	err = ask(within, o)
	if crash := (*rpc.CrashError)(nil); errors.As(err, &crash) && crash.Hung && ctx.Err() == nil {
		return fmt.Errorf("reference of %s (%s) did not end within %v", op.Name, referencePlace(op), limit)
	}
	return err
}

// Answer is what the reference gives for one result.
type Answer struct {
	// Name is that of the result, Type its dtype and shape.
	Name, Type string
	// Least and Most are the smallest and the largest number; NaN counts the elements that are NaN, Len all.
	Least, Most float64
	NaN, Len    int
}

// Answers describe the reference's answer, absent outputs left out.
func (t *Call) Answers() (out []Answer) {
	for i, s := range cases.Slots(t.Case.Op) {
		if !t.Case.Has(s) {
			continue
		}
		a := Answer{Name: s.Name, Type: t.Case.DType(s.Type).Long + rule.List(t.expected[i].Shape), Len: len(t.expected[i].Values)}
		numbers := slices.DeleteFunc(slices.Clone(t.expected[i].Values), func(v float64) bool { return v != v })
		if a.NaN = a.Len - len(numbers); len(numbers) > 0 {
			a.Least, a.Most = slices.Min(numbers), slices.Max(numbers)
		}
		out = append(out, a)
	}
	return out
}
