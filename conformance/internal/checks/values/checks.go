// Package values has the checks of the numbers that calls give, and of the shapes and dtypes of results.
package values

import "github.com/opcast/opcast/conformance/internal/check"

// Checks are about the numbers that calls give, and about the shapes and dtypes of results.
func Checks() []check.Check {
	return []check.Check{
		valueCheck,
		specialValuesCheck,
		magnitudesCheck,
		largeIntegersCheck,
		hardFloatsCheck,
		attrsCheck,
		defaultsCheck,
		optionalCheck,
		keywordsCheck,
		repeatedCheck,
		contentsCheck,
		propertiesCheck,
		variantsCheck,
		paramsCheck,
		savedCheck,
		splitCheck,
		shapeCheck,
		rankCheck,
		listLengthsCheck,
		sizesCheck,
		dtypeCombinationsCheck,
		dtypeRefusedCheck,
		zeroSizeCheck,
	}
}
