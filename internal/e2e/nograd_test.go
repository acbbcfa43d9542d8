package e2e

import (
	"path/filepath"
	"testing"
)

// An op that has derivatives by one of its inputs only.
const noGrad = `
-- opcast.toml --
name = "demo"
version = "0.1.0"
license = "MIT"
adaptors = ["torch", "jax"]
devices = ["cpu"]
sources = ["csrc/*.cc"]
-- opdefs/scale.toml --
doc = "Scale x."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[N]", doc = "Numbers." }, { name = "c", type = "T[N]", doc = "Constants." }]
outputs = [{ name = "y", type = "T[N]", doc = "Products." }]
reference = "return x * c"
backward = "scale_backward"
forward = "scale_forward"
no_grad = ["c"]
-- opdefs/scale_backward.toml --
doc = "Gradient of scale."
kind = 1
dtypes = { T = ["f32"] }
inputs = [{ name = "grad_y", type = "T[N]", doc = "Gradient of y." }, { name = "c", type = "T[N]", doc = "Constants." }]
outputs = [{ name = "grad_x", type = "T[N]", doc = "Gradient of x." }]
reference = "return grad_y * c"
-- opdefs/scale_forward.toml --
doc = "Tangents of scale."
kind = 2
dtypes = { T = ["f32"] }
inputs = [{ name = "tangent_x", type = "T[N]", doc = "Tangent of x." }, { name = "c", type = "T[N]", doc = "Constants." }]
outputs = [{ name = "tangent_y", type = "T[N]", doc = "Tangent of y." }]
reference = "return tangent_x * c"
-- csrc/scale.cc --
#include "scale.gen.h"
#include "scale_backward.gen.h"
#include "scale_forward.gen.h"

namespace {

opcast::Status Multiply(int64_t n, float* y, const float* x, const float* c) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * c[i];
  return opcast::Status::Ok();
}

}  // namespace

opcast::Status demo_ops::Scale(const ScaleArgs& args, const opcast::Launch&) {
  return Visit(args, [](const auto& a) { return Multiply(a.N, a.y, a.x, a.c); });
}

opcast::Status demo_ops::ScaleBackward(const ScaleBackwardArgs& args, const opcast::Launch&) {
  return Visit(args, [](const auto& a) { return Multiply(a.N, a.grad_x, a.grad_y, a.c); });
}

opcast::Status demo_ops::ScaleForward(const ScaleForwardArgs& args, const opcast::Launch&) {
  return Visit(args, [](const auto& a) { return Multiply(a.N, a.tangent_y, a.tangent_x, a.c); });
}
-- ask.py --
"""Differentiate by x, which gives numbers, and by c, which is refused."""
from importlib.util import find_spec


def refused(call, kind):
    try:
        call()
    except NotImplementedError as error:
        assert str(error).startswith(f"scale: c: no {kind} is defined: "), error
        return
    raise AssertionError(f"no {kind} was computed")


if find_spec("torch"):
    import demo_torch
    import torch

    x, c = torch.ones(3, requires_grad=True), torch.arange(3.0, requires_grad=True)
    assert torch.autograd.grad(demo_torch.scale(x, c.detach()).sum(), x)[0].tolist() == [0, 1, 2]
    refused(lambda: demo_torch.scale(x, c).sum().backward(), "gradient")
    refused(lambda: torch.func.grad(lambda c: demo_torch.scale(x.detach(), c).sum())(c.detach()), "gradient")
    x, c = x.detach(), c.detach()
    assert torch.func.jvp(lambda x: demo_torch.scale(x, c), (x,), (x,))[1].tolist() == [0, 1, 2]
    refused(lambda: torch.func.jvp(lambda c: demo_torch.scale(x, c), (c,), (c,)), "forward-mode derivative")
if find_spec("jax"):
    import demo_jax
    import jax

    x, c = jax.numpy.ones(3), jax.numpy.arange(3.0)
    assert jax.grad(lambda x: demo_jax.scale(x, c).sum())(x).tolist() == [0, 1, 2]
    refused(lambda: jax.grad(lambda c: demo_jax.scale(x, c).sum())(c), "gradient")
    refused(lambda: jax.jvp(lambda c: demo_jax.scale(x, c), (c,), (c,)), "forward-mode derivative")
    stopped = lambda c: demo_jax.scale(x, jax.lax.stop_gradient(c)).sum()
    assert jax.grad(stopped)(c).tolist() == [0, 0, 0]
`

// A derivative that nobody defined is refused when it is asked for, with the name of the input.
func TestNoGrad(t *testing.T) {
	t.Parallel()
	dir, interpreter := t.TempDir(), borrowed(t)
	unpack(t, dir, noGrad)
	unoptimised(t, dir)
	mustOpcast(t, "-C", dir, "build", "--python", interpreter)
	run(t, command(t, dir, interpreter, filepath.Join(dir, "ask.py")))
}
