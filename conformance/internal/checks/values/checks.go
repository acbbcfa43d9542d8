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
		attrSizesCheck,
		defaultsCheck,
		optionalCheck,
		keywordsCheck,
		numbersCheck,
		repeatedCheck,
		manyInputsCheck,
		manyInputsMoreCheck,
		contentsCheck,
		ignoredCheck,
		propertiesCheck,
		variantsCheck,
		paramsCheck,
		savedCheck,
		splitCheck,
		batchInvarianceCheck,
		shapeCheck,
		rankCheck,
		listLengthsCheck,
		sizesCheck,
		manyRowsCheck,
		longDimsCheck,
		longDimsMoreCheck,
		workloadsCheck,
		dtypeCombinationsCheck,
		dtypeRefusedCheck,
		zeroSizeCheck,
	}
}
