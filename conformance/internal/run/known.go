package run

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/opcast/opcast/conformance/internal/known"
)

// Load reads the known failures of an adaptor: those of the file that the options name, or of the project.
func (s *Session) loadKnown(adaptor string) ([]known.Failure, error) {
	if s.Options.Known == "" {
		list, err := known.Load(s.Options.Project.Dir, adaptor)
		return list, errors.Join(err, s.checkKnown(list, adaptor))
	}
	list, err := known.Read(s.Options.Known)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	var out []known.Failure
	for _, k := range list {
		if k.Adaptor == "" || k.Adaptor == adaptor {
			out = append(out, k)
		}
	}
	return out, s.checkKnown(list, "")
}

// checkKnown returns an error for the first entry that no result can match, in a file of one adaptor or, without a name, of
// several: it would never be noticed.
func (s *Session) checkKnown(list []known.Failure, adaptor string) error {
	callers := allCallers(s.Options.Project, s.Env.Foreign)
	for _, k := range list {
		p := pattern{k.Op, cmp.Or(k.Adaptor, adaptor, "*"), k.Check}
		if k.Op == "*" || k.Check == "*" || adaptor != "" && p[1] != adaptor || !p.exists(s.Options.Project.Ops, callers, s.Env.Foreign) {
			return fmt.Errorf("known failure %q: %w: it names no check of an op", strings.Join(p[:], " "), ErrUnknown)
		}
	}
	return nil
}
