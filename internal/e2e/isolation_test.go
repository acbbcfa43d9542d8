package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// marked is a collection whose op says which one it is: it adds a number to its input.
const marked = `
-- opcast.toml --
name = "NAME"
namespace = "NAMESPACE"
version = "NUMBER.0.0"
license = "MIT"
adaptors = ["torch", "jax", "numpy"]
devices = ["cpu"]
sources = ["csrc/cpu/*.cc"]
[[files]]
match = "**/*.cc"
flags = ["-O0"]
-- opdefs/marker.toml --
doc = "Add the number of the collection."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[*]", doc = "Any values." }]
outputs = [{ name = "y", type = "T[*]", doc = "x + NUMBER." }]
reference = "return x + NUMBER"
backward = "marker_backward"
-- opdefs/marker_backward.toml --
doc = "Pass the number of the collection for the gradient."
kind = 1
dtypes = { T = ["f32"] }
inputs = [{ name = "grad_y", type = "T[*]", doc = "Any values." }]
outputs = [{ name = "grad_x", type = "T[*]", doc = "NUMBER everywhere." }]
reference = "return xp.full_like(grad_y, NUMBER)"
-- csrc/cpu/marker.cc --
#include "marker.gen.h"
#include "marker_backward.gen.h"

opcast::Status NAMESPACE_ops::Marker(const MarkerArgs& args, const opcast::Launch&) {
  const float* x = static_cast<const float*>(args.x);
  for (int64_t i = 0; i < args.batch; ++i) static_cast<float*>(args.y)[i] = x[i] + NUMBER;
  return opcast::Status::Ok();
}

opcast::Status NAMESPACE_ops::MarkerBackward(const MarkerBackwardArgs& args, const opcast::Launch&) {
  for (int64_t i = 0; i < args.batch; ++i) static_cast<float*>(args.grad_x)[i] = NUMBER;
  return opcast::Status::Ok();
}
`

// Two versions of one collection and another collection live in one process with torch and JAX: each call reaches its
// own backend, and the process ends well.
func TestCollectionsAreIsolated(t *testing.T) {
	t.Parallel()
	environment := borrowed(t)
	var words []string
	for i, name := range []string{"alpha", "alpha", "beta"} {
		dir, number := t.TempDir(), fmt.Sprint(i+1)
		names := strings.NewReplacer("NAMESPACE", name+"_"+number, "NAME", name, "NUMBER", number)
		unpack(t, dir, names.Replace(marked))
		mustOpcast(t, "build", "-C", dir, "--python", environment)
		words = append(words, name, dir, number)
	}
	// Not with the environment's links to the packages, of which there is one per name.
	pykernel(t, "isolation.py", words...)
}
