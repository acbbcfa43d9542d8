package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/known"
)

// loadKnown reads the known failures by caller: those of the file that the options name, or of the project.
func loadKnown(o Options, f *check.ForeignCode, callers []string) (map[string][]known.Failure, error) {
	out := map[string][]known.Failure{}
	for _, name := range append(slices.Clone(callers), calls.DefinitionName) {
		var err error
		if out[name], err = knownOf(o, f, name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// knownOf reads the known failures of a caller.
func knownOf(o Options, f *check.ForeignCode, caller string) ([]known.Failure, error) {
	if o.Known == "" {
		list, err := known.Load(o.Project.Dir, caller)
		return list, errors.Join(err, checkKnown(o, f, list, caller))
	}
	list, err := known.Read(o.Known)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	err = checkKnown(o, f, list, "")
	return slices.DeleteFunc(list, func(k known.Failure) bool { return k.Adaptor != "" && k.Adaptor != caller }), err
}

// checkKnown returns an error for the first entry that no result can match, in a file of one adaptor or, without a name, of
// several: it would never be noticed.
func checkKnown(o Options, f *check.ForeignCode, list []known.Failure, adaptor string) error {
	callers := allCallers(o.Project, f)
	for _, k := range list {
		p := pattern{k.Op, cmp.Or(k.Adaptor, adaptor, "*"), k.Check}
		if k.Op == "*" || k.Check == "*" || adaptor != "" && p[1] != adaptor || !p.exists(o.Project.Ops, callers, f) {
			return fmt.Errorf("known failure %q: %w: it names no check of an op", strings.Join(p[:], " "), ErrUnknown)
		}
	}
	return nil
}
