package random

import "github.com/opcast/opcast/conformance/internal/check"

var randomShapesMoreCheck = check.Check{
	ID: "random-shapes-more", Group: check.GroupShapes,
	Doc:     "the same as random-shapes, with many more calls",
	Profile: check.ProfileExtended,
	Foreign: check.Judges,
	Run:     checkRandomShapes(shapesMore),
}
