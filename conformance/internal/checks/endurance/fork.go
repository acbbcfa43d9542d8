package endurance

import "github.com/opcast/opcast/conformance/internal/check"

var forkCheck = check.Check{
	ID: "fork", Group: check.GroupEndurance, Generated: true,
	Doc:     "a child that is forked after import and calls gives the same bits and the same errors",
	Needs:   hasChildren,
	Foreign: check.Judges,
	Run:     checkChild("fork"),
}
