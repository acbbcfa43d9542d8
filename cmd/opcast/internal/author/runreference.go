package author

import (
	"context"
	"fmt"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
)

// runReference prints what the reference gives for a call. Nothing is built.
func (a commands) runReference(ctx context.Context, name string, words []string, flags runFlags) error {
	p, op, err := a.LoadOp(name)
	if err != nil {
		return err
	}
	op, wanted, err := flags.request(op, words)
	if err != nil {
		return err
	}
	env, err := a.Environment(ctx, flags.python, p.Dir)
	if err != nil {
		return err
	}
	if lacks := withReference(env); lacks != nil {
		return lacks
	}
	made, err := conformance.AskReference(ctx, env.Python, p.Dir, op, wanted, flags.timeout)
	if err != nil {
		return app.ExitError{Code: app.ExitFindings, Err: err}
	}
	if _, err := fmt.Fprintf(a.Stdout, "%s by its reference: %s\n", op.Name, (&run{op: op, trial: made}).describe()); err != nil {
		return err
	}
	for _, answer := range made.Answers() {
		if _, err := fmt.Fprintf(a.Stdout, "%s %s: %s\n", answer.Name, answer.Type, span(answer)); err != nil {
			return err
		}
	}
	return nil
}

// span says between which numbers the elements of a result lie.
func span(a conformance.Answer) string {
	switch {
	case a.Len == 0:
		return "empty"
	case a.NaN == a.Len:
		return "all NaN"
	case a.NaN > 0:
		return fmt.Sprintf("%.5g to %.5g, and %d of %d NaN", a.Least, a.Most, a.NaN, a.Len)
	}
	return fmt.Sprintf("%.5g to %.5g", a.Least, a.Most)
}
