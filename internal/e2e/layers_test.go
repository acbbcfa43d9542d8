package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/framework"
)

// Layers can be constructed, lend their forward and stand in for the modules of whole models; what they do not honour they
// refuse, and what stays in a model has a reason.
func TestLayers(t *testing.T) {
	t.Parallel()
	script := filepath.Join(root(t), "internal", "e2e", "layers_calls.py")
	told := run(t, command(t, t.TempDir(), python(t), "-W", "ignore", script))
	if n := strings.Count(told, " holds\n"); n != 6 {
		t.Errorf("%d of 6 claims hold:\n%s", n, told)
	}
}

// The modules that definitions may name are those of PyTorch.
func TestLayerModules(t *testing.T) {
	t.Parallel()
	for _, fw := range framework.All() {
		if len(fw.Layers.Modules) == 0 {
			continue
		}
		program := "import sys, torch\nfor name in sys.argv[1:]:\n    assert issubclass(eval(name), torch.nn.Module), name\n"
		run(t, command(t, t.TempDir(), append([]string{python(t), "-P", "-c", program}, fw.Layers.Modules...)...))
	}
}

// strangersLayers is a collection whose layers say all that a layer can: no key is about this repository's ops.
const strangersLayers = `
-- opcast.toml --
name = "guest"
version = "0.1.0"
license = "MIT"
adaptors = ["torch"]
devices = ["cpu"]
sources = ["csrc/cpu/*.cc"]
[[files]]
match = "**/*.cc"
flags = ["-O0"]
-- opdefs/affine.toml --
doc = "Scale rows, shift them and bound them."
kind = 0
dtypes = { T = ["f32"] }
inputs = [
  { name = "x",     type = "T[M, N]", doc = "Rows." },
  { name = "scale", type = "T[N]", doc = "Factor of each column." },
  { name = "shift", type = "T[N]", doc = "Summand of each column." },
]
attrs = [
  { name = "most", type = "float", min = 0, doc = "Bound." },
  { name = "mode", type = "str", one_of = ["clip", "none"], doc = "What happens beyond it." },
  { name = "times", type = "int[2]", default = 1, doc = "Two factors." },
]
outputs = [{ name = "y", type = "T[M, N]", doc = "Bounded rows." }]
parallel = ["M"]
reference = """
y = x * scale * times[0] * times[1] + shift
return xp.clip(y, -most, most) if mode == "clip" else y
"""
backward = "affine_backward"
no_grad = ["scale", "shift"]

[[layers]]
name = "Affine"
classes = ["TheirAffine", "OldAffine"]
reads = { scale = ["gain"], shift = ["bias"], most = ["bound", "limit"] }
values = { mode = "clip", times = [1, 2] }
absent = { scale = 1.5, shift = 0, most = 100 }
expects = { side = ["left", "right"], depth = 2, quoted = "it's \"so\"" }
ignores = ["comment"]
rows = "M"
trailing = "shape"

[[layers]]
name = "PairAffine"
classes = ["Pair"]
reads = { scale = ["gain"], shift = ["bias"] }
values = { mode = "none", most = 0 }
joins = ["one", "two"]
then = "last"
rows = "M"
-- opdefs/affine_backward.toml --
doc = "Gradients of affine where nothing is bounded."
kind = 1
dtypes = { T = ["f32"] }
inputs = [
  { name = "grad_y", type = "T[M, N]", doc = "Gradient of the rows." },
  { name = "scale", type = "T[N]", doc = "Factor of each column." },
]
attrs = [{ name = "times", type = "int[2]", default = 1, doc = "Two factors." }]
outputs = [{ name = "grad_x", type = "T[M, N]", doc = "Gradient of x." }]
reference = "return grad_y * scale * times[0] * times[1]"
-- csrc/cpu/affine.cc --
#include "affine.gen.h"
#include "affine_backward.gen.h"

opcast::Status guest_ops::Affine(const AffineArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    for (int64_t i = 0; i < a.M * a.N; ++i) {
      const float y = a.x[i] * a.scale[i % a.N] * float(a.times[0] * a.times[1]) + a.shift[i % a.N];
      const float most = float(a.most);
      a.y[i] = a.mode == AffineMode::kNone ? y : y > most ? most : y < -most ? -most : y;
    }
    return opcast::Status::Ok();
  });
}

opcast::Status guest_ops::AffineBackward(const AffineBackwardArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    for (int64_t i = 0; i < a.M * a.N; ++i) a.grad_x[i] = a.grad_y[i] * a.scale[i % a.N] * float(a.times[0] * a.times[1]);
    return opcast::Status::Ok();
  });
}
`

// What a stranger's definition says about layers works in the package that is generated for it.
func TestLayersOfStrangers(t *testing.T) {
	t.Parallel()
	dir, interpreter := t.TempDir(), borrowed(t)
	unpack(t, dir, strangersLayers)
	mustOpcast(t, "build", "-C", dir, "--python", interpreter)
	script := filepath.Join(root(t), "internal", "e2e", "testdata", "layers_guest.py")
	if told := run(t, command(t, dir, interpreter, "-W", "ignore", script)); !strings.HasSuffix(told, "holds\n") {
		t.Error(told)
	}
}
