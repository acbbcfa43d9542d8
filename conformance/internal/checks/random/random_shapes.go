package random

import "github.com/opcast/opcast/conformance/internal/check"

var randomShapesCheck = check.Check{
	ID: "random-shapes", Group: check.GroupShapes, Generated: true,
	Doc:     "random sizes, ranks, dtypes, attrs, layouts and optional inputs give what the reference gives; a failing call is shrunk",
	Foreign: check.Judges, Run: checkRandomShapes(1),
}

var randomShapesMoreCheck = check.Check{
	ID: "random-shapes-more", Group: check.GroupShapes, Profile: check.ProfileExtended,
	Doc:     "the same as random-shapes, with many more calls",
	Foreign: check.Judges, Run: checkRandomShapes(shapesMore),
}
