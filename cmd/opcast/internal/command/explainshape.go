package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/runner"
	"github.com/opcast/opcast/internal/tvmffi"
)

// explainCall prints every kernel of an op with yes, or the reason for which it does not take the call. The library is
// brought up to date and asked: only it knows what it holds and what the device is.
func (a *app) explainCall(ctx context.Context, p *opdef.Project, op *opdef.Op, words []string, flags runFlags) error {
	r, err := a.prepare(ctx, p, op, words, flags, true)
	if err != nil {
		return err
	}
	library, err := tvmffi.Open(r.env.TVMLibrary, r.library)
	if err != nil {
		return err
	}
	text, err := kernelLines(library, r.trial, flags.device)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		name, rest, _ := strings.Cut(line, "\t")
		device, answer, _ := strings.Cut(rest, "\t")
		fmt.Fprintf(w, "%s\ton %s\t%s\n", name, device, answer)
	}
	return w.Flush()
}

// kernelLines asks the library, which gets arrays without memory.
func kernelLines(library *tvmffi.Library, trial *conformance.Trial, device string) (string, error) {
	var failed error
	arguments, err := exportArguments(trial, func(_ runner.Role, array *ndarray.Array) any {
		phantom, err := library.Call("_opcast_phantom", array.Shape, array.DType.Code, array.DType.Bits, deviceTypes[device], 0)
		failed = errors.Join(failed, err)
		return phantom
	})
	if err := errors.Join(err, failed); err != nil {
		return "", err
	}
	answer, err := library.Call("_opcast_explain", append([]any{trial.Case.Op.Name}, arguments...)...)
	for _, a := range arguments {
		if object, ok := a.(*tvmffi.Object); ok {
			object.Release()
		}
	}
	if err != nil {
		return "", err
	}
	text, ok := answer.(string)
	if !ok {
		return "", fmt.Errorf("the library explains itself in a %T", answer)
	}
	return text, nil
}
