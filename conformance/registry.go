package conformance

import "slices"

// checks lists every check of the suite, in the order of reports.
func checks() []Check {
	return slices.Concat(
		valueChecks(), randomChecks(), memoryChecks(), errorChecks(), acrossChecks(), endureChecks(),
		transformChecks(), mapChecks(), gradientChecks(), spreadChecks(), definitionChecks(),
	)
}

// checksOf are the checks that run through a caller; functions says that it calls functions in the place of a library.
func checksOf(caller Caller, functions bool) []Check {
	return slices.DeleteFunc(checks(), func(c Check) bool { return !c.runsThrough(caller.Name(), functions) })
}
