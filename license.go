// Package opcast holds the license of opcast, and its version. The packages of every collection contain parts of its runtime, so
// their wheels carry the text.
package opcast

import (
	_ "embed" // for the directives
	"regexp"
)

// License is the text of the file LICENSE.
//
//go:embed LICENSE
var License []byte

//go:embed opcast.toml
var manifest []byte

// Version is that of the tool, which comes in the wheel of this repository's own collection.
var Version = string(regexp.MustCompile(`(?m)^version = "(.*)"$`).FindSubmatch(manifest)[1])
