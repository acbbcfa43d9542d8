package endurance

import "github.com/opcast/opcast/conformance/internal/check"

var spawnCheck = check.Check{
	ID: "spawn", Group: check.GroupEndurance, Generated: true,
	Doc:     "a child that is spawned gives the same bits and the same errors",
	Needs:   hasChildren,
	Foreign: check.Judges,
	Ahead:   startChild("spawn"),
	Run:     checkChild("spawn"),
}
