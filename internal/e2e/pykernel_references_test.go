package e2e

import (
	_ "embed"
	"os"
	"strings"
	"testing"
)

//go:embed pykernel_references.py
var pykernelReferences string

// gpuOnly is a collection without kernels for the CPU.
const gpuOnly = `
-- opcast.toml --
name = "gamma"
version = "0.1.0"
license = "MIT"
adaptors = ["torch", "jax", "numpy"]
devices = ["cuda"]
sources = ["csrc/*.cu"]
[cuda]
arch = ["80"]
[[files]]
match = "**/*.cc"
flags = ["-O0"]
-- opdefs/pool.toml --
doc = "Sum windows of a row."
kind = 0
dtypes = { T = ["f32", "bf16"] }
inputs = [
  { name = "x", type = "T[*, 2*N]", doc = "Rows." },
  { name = "bias", type = "T[]", optional = true, doc = "Added to the sums." },
]
attrs = [
  { name = "step", type = "int[2]", default = 1, min = 1, doc = "Steps; only the first counts." },
  { name = "scale", type = "float", default = "N ** -0.5", doc = "Factor." },
]
let.W = "(2*N - 2) // step[0] + 1"
outputs = [{ name = "y", type = "T[*, W]", doc = "Sums of neighbours." }]
reference = """
pairs = x[..., :-1] + x[..., 1:]
y = pairs[..., ::step[0]][..., :W] * scale

return y if bias is None else y + bias
"""
-- opdefs/bump.toml --
doc = "Add to an array in place, and count."
kind = 1
dtypes = { T = ["f32"] }
inputs = [
  { name = "x", type = "T[N]", mutated = true, doc = "Changed." },
  { name = "by", type = "T[N]", doc = "What is added." },
]
outputs = [{ name = "n", type = "T[]", doc = "Size of x." }]
-- opdefs/bump.py --
def reference(x, by):
    x += by
    return xp.float64(len(x)), x
-- csrc/kernels.cu --
#include "bump.gen.h"
#include "pool.gen.h"

opcast::Status gamma_ops::Bump(const BumpArgs&, const opcast::Launch&) { return opcast::Status::Error("not here"); }

opcast::Status gamma_ops::Pool(const PoolArgs&, const opcast::Launch&) { return opcast::Status::Error("not here"); }
`

// The references are the kernels of a collection that has none for the CPU, for every adaptor.
func TestReferencesAreKernels(t *testing.T) {
	t.Parallel()
	environment, dir := borrowed(t), t.TempDir()
	unpack(t, dir, gpuOnly)
	mustOpcast(t, "build", "-C", dir, "--python", environment)
	cmd := command(t, t.TempDir(), environment, "-P", "-c", pykernelReferences)
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu")
	if out := run(t, cmd); !strings.Contains(out, "ok\n") {
		t.Errorf("printed\n%s", out)
	}
}
