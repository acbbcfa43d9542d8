package endurance

import "github.com/opcast/opcast/conformance/internal/check"

var leaksAllCheck = check.Check{
	ID: "leaks-all", Group: check.GroupEndurance,
	Doc:     "memory, objects and references are flat over 10,000 calls and 10,000 refused ones, however long that takes",
	Profile: check.ProfileExtended,
	Needs:   hasProbe(GroupEnduranceProbes, "leaks"),
	Foreign: check.Judges,
	Run:     checkLeaks(0),
}
