package author

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/opcast/opcast/cmd/opcast/internal/runner"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// explainCall prints every kernel of an op with yes, or the reason for which it does not take the call. The library is
// brought up to date and asked: only it knows what it holds and what the device is.
func (a commands) explainCall(ctx context.Context, p *opdef.Project, op *opdef.Op, words []string, flags runFlags) error {
	r, err := a.prepare(ctx, p, op, words, flags, true)
	if err != nil {
		return err
	}
	library, err := tvmffi.Open(r.env.TVMLibrary, r.library)
	if err != nil {
		return err
	}
	answers, err := kernelAnswers(library, r.trial, flags.device)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	for _, answer := range answers {
		fmt.Fprintf(w, "%s\ton %s\t%s\n", answer.Name, answer.Device, cmp.Or(answer.Reason, "yes"))
	}
	return w.Flush()
}

// kernelAnswers asks the library, which gets the shape and the dtype of every array.
func kernelAnswers(library *tvmffi.Library, made *conformance.Trial, device string) ([]runner.Answer, error) {
	arguments, err := exportArguments(made, func(_ string, _ runner.Role, array *ndarray.Array) any { return array })
	if err != nil {
		return nil, err
	}
	op := made.Case.Op
	first, last := len(op.Outputs)+len(op.Inputs), len(arguments)-len(op.Scratch) // of the attributes, and after them
	if lists := conformance.ListsOf(op); lists != nil {
		first += len(lists.Lengths)
	}
	call := []any{op.Name, int(tvmffi.Kinds[device]), 0}
	for i, argument := range arguments {
		switch array, given := argument.(*ndarray.Array); {
		case given:
			call = append(call, array.Shape, array.DType.Long)
		case argument == nil && (i < first || i >= last):
			call = append(call, nil, nil)
		default:
			call = append(call, argument)
		}
	}
	answer, err := library.Call("_opcast_explain_shapes", call...)
	if err != nil {
		return nil, err
	}
	text, ok := answer.(string)
	if !ok {
		return nil, fmt.Errorf("the library explains itself in a %T", answer)
	}
	return runner.ReadAnswers(text)
}
