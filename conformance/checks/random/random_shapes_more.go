package random

import (
	"github.com/opcast/opcast/conformance/check"
)

var randomShapesMoreCheck = check.Check{
	ID: "random-shapes-more", Group: check.GroupShapes,
	Doc:     "the same, many times more",
	Profile: check.ProfileExtended,
	Run:     checkRandomShapes(shapesMore),
}
