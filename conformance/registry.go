package conformance

import (
	"slices"

	"github.com/opcast/opcast/internal/ndarray"
)

// checksOf are the checks that run through a caller.
func checksOf(caller Caller) []Check {
	switch caller.Name() {
	case definitionName:
		return definitionChecks()
	case nativeName, opCallName:
		// They reach the same exports as the bare backend: what remains is how arguments and errors pass.
		return slices.DeleteFunc(checks(), func(c Check) bool { return !slices.Contains(passing, c.Group) && c.ID != "scratch" })
	}
	return checks()
}

// passing are the groups of checks for callers that differ from the bare backend in how they pass arguments.
var passing = []string{groupValues, groupShapes, groupDTypes, groupZero, groupErrors, groupAcross, groupEndurance}

// checks lists every check of the suite. Each runs for every op through every adaptor.
func checks() []Check {
	return slices.Concat(valueChecks(), inputChecks(), memoryChecks(), errorChecks(), acrossChecks(), streamChecks(), endureChecks(), transformChecks())
}

func valueChecks() []Check {
	return []Check{
		{"value", groupValues, "results are those of the float64 reference within the derived tolerance", nil, checkValue},
		{"special-values", groupValues, "NaN, infinities, -0, denormals and the largest number go where the reference says", nil, checkSpecials},
		{"magnitudes", groupValues, "large inputs do not overflow on the way, denormal ones are not flushed", nil, checkMagnitudes},
		{"attrs", groupValues, "every attr value gives what the reference gives", hasAttrs, covered(checkAttrs)},
		{"defaults", groupValues, "a default given explicitly changes no bit, nor does an int for a float", hasDefaults, covered(checkDefaults)},
		{"optional", groupValues, "an optional input left out is a neutral one", hasOptional, covered(checkOptional)},
		{"keywords", groupValues, "arguments by position and by keyword, in any order, give the same bits", takesKeywords, covered(checkKeywords)},
		{"repeated", groupValues, "two runs give the same bits", isDeterministic, covered(checkRepeated)},
		{"contents", groupValues, "values at the ends of their declared range, and ragged rows of all kinds", hasContents, covered(checkContents)},
		{"contents-refused", groupValues, "with NAME_DEBUG=1, values outside of their range and descending ones are refused, and others compute", looked, checkContentsRefused},
		{"variants", groupValues, "a kernel that must not take a call refuses it, and dispatch runs another", hasVariants, checkVariants},
		{"saved", groupValues, "what only a gradient needs changes no other result", hasSaved, covered(checkSaved)},
		{"split", groupValues, "parts of the inputs give the bits of parts of the results", hasParallel, checkSplit},

		{"shape", groupShapes, "shapes and dtypes are the inferred ones, by exactly one kernel launch", nil, checkShape},
		{"rank", groupShapes, "any number of leading dimensions", hasBatch, ofKernels(checkRank)},
		{"sizes", groupShapes, "size 1, primes, one past a tile, and long rows", nil, ofKernels(checkSizes)},

		{"dtype-combinations", groupDTypes, "every allowed choice of dtypes runs and has the declared output dtypes", nil, checkCombinations},
		{"dtype-refused", groupDTypes, "every other dtype raises TypeError, in the words of the definition", nil, checkRefused},

		{"zero-size", groupZero, "each dimension may be zero", hasDims, covered(checkZero)},
	}
}

// memoryChecks look at where arrays lie and what happens to them there.
func memoryChecks() []Check {
	list := []Check{
		{"inputs-unchanged", groupAliasing, "inputs keep their bytes", nil, covered(checkUnchanged)},
		{"mutated", groupAliasing, "overwritten inputs change in place and are the results", hasMutated, covered(checkMutated)},
		{"side-by-side", groupAliasing, "overwritten columns of one buffer do not disturb each other", hasMutated, covered(checkSideBySide)},
		{"fresh-outputs", groupAliasing, "outputs share memory with nothing", nil, covered(checkFresh)},
		{"same-object", groupAliasing, "one array as two arguments is two equal ones, or refused where one is overwritten", nil, covered(checkSameObject)},
		{"version", groupAliasing, "autograd learns what was written", about("version"), covered(checkMemory("version"))},
		{"stale", groupAliasing, "a backward pass refuses what was overwritten since", about("stale"), covered(checkMemory("stale"))},
		{"gradient-written", groupAliasing, "what a gradient flows to is overwritten only while gradients are off", about("gradient"), covered(checkMemory("gradient"))},
		{"unwritable", groupAliasing, "memory that no kernel can write is refused in the words of its fault", about("written"), covered(checkMemory("written"))},
		{"donation", groupAliasing, "results lie in donated memory, and in no other", about("donation"), covered(checkMemory("donation"))},
		{"scratch", groupAliasing, "work space may hold anything, and nothing around it is written", hasScratch, covered(checkScratch)},
		{"out", groupAliasing, "out= is filled completely, is the result, and nothing around it is written", outputsGiven, covered(checkOut)},
	}
	for _, layout := range ndarray.Layouts {
		list = append(list, Check{
			layout.Name, groupStrides, "a view that is " + layout.Name + " gives what its dense copy gives", nil, covered(checkLayout(layout)),
		})
	}
	return append(list, placeChecks()...)
}

// placeChecks are about where arrays lie, and how results do.
func placeChecks() []Check {
	return []Check{
		{"misaligned", groupStrides, "arrays one element beside the usual alignment give the same bits, by a kernel that takes them", strided, covered(checkMisaligned)},
		{"not-copied", groupStrides, "what a kernel may read or write as it lies, it gets as it lies: addresses are the caller's", watches("pointers", nil), covered(checkNotCopied)},
		{"output-strides", groupStrides, "results are dense whatever the strides of inputs, and those without data have the same strides", stridedResults, checkOutputStrides},
		{"far-apart", groupStrides, "rows whose distance needs 64 bits give what near ones give", watches("far", strided), covered(checkFarApart)},
	}
}

// extendedChecks cost more than every run can bear, or need more than every machine has.
var extendedChecks = []string{randomShapesMore, "far-apart", leaksMore}

// The profiles of checks: those of core belong to every run, those of extended to runs that ask for them.
const (
	profileCore     = "core"
	profileExtended = "extended"
)

// Profile is the smallest profile that a check belongs to.
func (c *Check) Profile() string {
	if slices.Contains(extendedChecks, c.ID) {
		return profileExtended
	}
	return profileCore
}

func errorChecks() []Check {
	return []Check{
		{"errors", groupErrors, "every broken rule raises its class and text", nil, checkErrors},
		{"call-shape", groupErrors, "unknown and surplus arguments raise TypeError", takesKeywords, checkCallShape},
		{"precedence", groupErrors, "of two faults the documented order reports one", nil, checkPrecedence},
		{"side-effects", groupErrors, "a refused call changes nothing, and the next call works", nil, checkSideEffects},
		{"warnings", groupErrors, "a deprecated op says so once, at the line of its caller, and no other op warns", watches("warnings", notBackend), checkWarnings},
		{"malformed", groupErrors, "calls that no one should write end in an error, not in the end of the process", hasMalformed, checkMalformed},
		{"op-call", groupErrors, "unknown kinds and attrs, and wrong numbers of arrays, are refused in the words of the op", byNumber, checkOpCall},
		{"random-calls", groupErrors, "random calls raise what the rules say, or compute; the process lives and does not grow", callsFromGo, checkRandom},
		{"no-device", groupErrors, "arrays on a device that the machine lacks raise an error of ours", isBackend, checkNoDevice},
		{withoutKernel, groupErrors, "without a kernel for the device, NotImplementedError names the devices that have one", nil, checkNoKernel},
		{"devices", groupErrors, "results lie on the device of the arguments, and arrays on two devices are refused", hasDevices, covered(checkDevices)},
		{"special-inputs", groupErrors, "special arrays give right results or an error of ours, never a crash", hasProbes, covered(checkSpecialInputs)},
	}
}

func acrossChecks() []Check {
	return []Check{
		{"bits", groupAcross, "the bits are those of the bare backend, eager and jitted", notBackend, checkBits},
		{"denormals", groupAcross, "denormal inputs give the bits of the bare backend", notBackend, checkDenormals},
		{"error-agreement", groupAcross, "errors are those of the bare backend", notBackend, checkAgreement},
		{"chain", groupAcross, "results pass to other frameworks through DLPack without a copy", notBackend, checkChain},
		{"mixed", groupAcross, "arrays of several frameworks in one call give the bits of the bare backend", byNumber, covered(checkMixed)},
		{"signature", groupAcross, "names, order, kinds and defaults of parameters are the definition's", takesKeywords, checkSignature},
	}
}

// definitionChecks run once per op, through no adaptor.
func definitionChecks() []Check {
	return []Check{
		{"oracle", groupValues, "a planted wrong result is found", nil, checkOracle},
		{ID: "independent", Group: groupValues, Doc: "the reference agrees with the author's independent formula", Needs: hasIndependent, Run: checkIndependent},
		{ID: "samples", Group: groupValues, Doc: "the author's samples are inputs of the op, of their shapes and ranges", Needs: hasSamples, Run: checkSamples},
		{"gradient", groupValues, "the gradient op's reference is the derivative of the op's", hasGradient, checkGradient},
		{"fault-coverage", groupErrors, "some wrong call breaks each rule", nil, checkFaultCoverage},
		{"up-to-date", groupAcross, "generated files are what the definitions give", nil, checkUpToDate},
		{"abi", groupAcross, "the built libraries export their entry points only, carry their names, and need what every system has", nil, checkABI},
	}
}
