package definitions

import "github.com/opcast/opcast/conformance/internal/check"

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
