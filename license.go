// Package opcast holds the license of opcast. The packages of every collection contain parts of its runtime, so their wheels
// carry the text.
package opcast

import _ "embed" // for the directive

// License is the text of the file LICENSE.
//
//go:embed LICENSE
var License []byte
