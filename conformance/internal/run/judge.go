package run

import (
	"context"
	"crypto/sha256"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/system/rpc"
)

// judge prepares the oracle, and returns its process, which has to start. Authors' independent formulas import frameworks:
// they have a process of their own, which does that while the others start.
func (s *Session) judge(ctx context.Context) (*rpc.Worker, error) {
	reference, err := s.Worker("reference", "")
	if err != nil {
		return nil, err
	}
	formulas, err := s.Worker("reference", "") // starts with its first call
	if err != nil {
		return nil, err
	}
	judge := &oracle.Python{Worker: reference, Formulas: formulas, Cache: map[[sha256.Size]byte][]oracle.Expected{}}
	s.Env.Oracle, s.Env.Samplers = judge, judge.Samplers(ctx, s.Options.Project.Ops)
	if cells, err := s.choice.cells(s.Ops, []calls.Caller{calls.Definition{}}, s.Env.Foreign); err == nil {
		s.beginAhead(ctx, cells)
	}
	return reference, nil
}
