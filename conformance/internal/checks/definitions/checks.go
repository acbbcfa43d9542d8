// Package definitions has the checks that run once per op, through no caller: they judge the definition itself.
package definitions

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Checks run once per op, through no adaptor.
func Checks() []check.Check {
	return []check.Check{
		oracleCheck,
		independentCheck,
		samplesCheck,
		gradientCheck,
		tangentCheck,
		faultCoverageCheck,
		upToDateCheck,
		abiCheck,
	}
}

// about is a check of a definition.
func about(
	id, group string, foreign check.Foreign, needs func(*opdef.Op, calls.Caller) error, doc string, run func(*check.T) error,
) check.Check {
	return check.Check{ID: id, Group: group, Doc: doc, Through: check.ThroughDefinition, Needs: needs, Foreign: foreign, Run: run}
}
