package run

import (
	"context"

	"github.com/opcast/opcast/conformance/internal/check"
)

// beginAhead lets checks begin what they will wait for, beside those that come first. What cannot begin here says so when
// its check runs.
func (s *Session) beginAhead(ctx context.Context, cells []cell) {
	if !s.early {
		return
	}
	s.background.Go(func() {
		for _, c := range cells {
			for i := range c.checks {
				if s.beginsAhead(c, &c.checks[i]) && ctx.Err() == nil {
					c.checks[i].Ahead(ctx, &s.Env, c.op, c.caller)
				}
			}
		}
	})
}

// beginsAhead reports whether a check has something to begin, and is going to run.
func (s *Session) beginsAhead(c cell, one *check.Check) bool {
	return one.Ahead != nil && c.missing == "" && reasonToSkip(s.Env.Foreign, one) == nil &&
		(one.Needs == nil || one.Needs(c.op, c.caller) == nil)
}
