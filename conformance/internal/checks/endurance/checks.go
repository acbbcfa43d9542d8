// Package endurance has the checks of what surrounds a call: threads, child processes, memory that is never freed.
package endurance

import "github.com/opcast/opcast/conformance/internal/check"

// Checks are about what surrounds a call: other threads, child processes, memory that stays.
func Checks() []check.Check {
	return []check.Check{
		threadsCheck,
		threadCountCheck,
		forkCheck,
		spawnCheck,
		leaksCheck,
		leaksAllCheck,
		copiesCheck,
		workingMemoryCheck,
	}
}
