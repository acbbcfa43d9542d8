// Package agreement has the checks that compare callers with each other: bits, errors, signatures, streams.
package agreement

import "github.com/opcast/opcast/conformance/internal/check"

// Checks compare callers with each other.
func Checks() []check.Check {
	return []check.Check{
		bitsCheck,
		denormalsCheck,
		errorAgreementCheck,
		chainCheck,
		lseChainCheck,
		mixedCheck,
		signatureCheck,
		sideStreamCheck,
		twoStreamsCheck,
		graphCheck,
		pairsCheck,
	}
}
