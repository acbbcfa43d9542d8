"""Differentiates an op in every way that PyTorch and JAX have, and compares with their own functions."""

import importlib
import sys
from typing import Any

import numpy as np

PACKAGE = sys.argv[1]
jax: Any = importlib.import_module("jax")
jnp: Any = jax.numpy
torch: Any = importlib.import_module("torch")
forward_ad: Any = torch.autograd.forward_ad
RNG = np.random.default_rng(0)
GATE, UP, GRAD, BY_GATE, BY_UP = RNG.standard_normal((5, 2, 3)).astype(np.float32)


def differences(got: Any, want: Any) -> float:
    """Return the largest distance between arrays in any nesting."""
    if isinstance(got, torch.Tensor):
        got, want = got.detach(), want.detach()
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), (got, want)
        return max(map(differences, got, want))
    assert tuple(got.shape) == tuple(want.shape), (got, want)
    return float(np.abs(np.asarray(got) - np.asarray(want)).max())


def compare(ways: Any, ours: Any, theirs: Any) -> None:
    """Print each way with whether both functions agree."""
    for name, way in ways.items():
        distance = differences(way(ours), way(theirs))
        print(name, "agree" if distance < 1e-4 else f"differ by {distance}")


def in_jax(op: Any) -> None:
    """Compare in JAX."""

    def theirs(gate: Any, up: Any) -> Any:
        return gate * jax.nn.sigmoid(gate) * up

    def total(f: Any) -> Any:
        return lambda gate, up: (f(gate, up) * GRAD).sum()

    gate, up, by = jnp.asarray(GATE), jnp.asarray(UP), (jnp.asarray(BY_GATE), jnp.asarray(BY_UP))
    both = (0, 1)
    ways = {
        "jvp": lambda f: jax.jvp(f, (gate, up), by),
        "jvp by one": lambda f: jax.jvp(lambda g: f(g, up), (gate,), by[:1]),
        "jit of jvp": lambda f: jax.jit(lambda *a: jax.jvp(f, a[:2], a[2:]))(gate, up, *by),
        "linearize": lambda f: jax.linearize(f, gate, up)[1](*by),
        "linear_transpose": lambda f: jax.linear_transpose(jax.linearize(f, gate, up)[1], *by)(
            jnp.asarray(GRAD)
        ),
        "jacfwd": lambda f: jax.jacfwd(f, both)(gate, up),
        "vmap of jvp": lambda f: jax.vmap(
            lambda g, t: jax.jvp(lambda g: f(g, up[0]), (g,), (t,)),
        )(gate, by[0]),
        "jvp of vmap": lambda f: jax.jvp(jax.vmap(f, (0, None)), (gate, up[0]), (by[0], by[1][0])),
        "hessian": lambda f: jax.hessian(total(f), both)(gate, up),
        "jit of hessian": lambda f: jax.jit(jax.hessian(total(f), both))(gate, up),
        "jacrev of jacrev": lambda f: jax.jacrev(jax.jacrev(total(f), both), both)(gate, up),
        "jvp of grad": lambda f: jax.jvp(jax.grad(total(f), both), (gate, up), by),
        "grad by a tangent": lambda f: jax.grad(
            lambda t: (jax.jvp(f, (gate, up), (t, by[1]))[1] * GRAD).sum()
        )(by[0]),
    }
    compare({f"jax {name}": way for name, way in ways.items()}, op, theirs)
    refuses("jax", lambda: jax.jacfwd(jax.jacfwd(total(op)))(gate, up))


def in_torch(op: Any) -> None:
    """Compare in PyTorch."""
    func = torch.func

    def theirs(gate: Any, up: Any) -> Any:
        return gate * torch.sigmoid(gate) * up

    def total(f: Any) -> Any:
        return lambda gate, up: (f(gate, up) * grad).sum()

    gate, up, grad, *by = map(torch.from_numpy, (GATE, UP, GRAD, BY_GATE, BY_UP))
    by, both = tuple(by), (0, 1)

    def dual(f: Any) -> Any:
        with forward_ad.dual_level():
            tracked = gate.clone().requires_grad_()
            y = f(forward_ad.make_dual(tracked, by[0]), forward_ad.make_dual(up, by[1]))
            primal, tangent = forward_ad.unpack_dual(y)
            return primal.detach(), tangent.detach()

    def double_backward(f: Any) -> Any:
        leaves = [x.clone().requires_grad_() for x in (gate, up, grad)]
        found = torch.autograd.grad(f(*leaves[:2]), leaves[:2], leaves[2], create_graph=True)
        return torch.autograd.grad(found, leaves, by)

    def compiled(f: Any) -> Any:
        torch.compiler.reset()
        call = torch.compile(lambda *a: func.jvp(f, a[:2], a[2:]), fullgraph=True, backend="eager")
        return call(gate, up, *by)

    ways = {
        "jvp": lambda f: func.jvp(f, (gate, up), by),
        "make_dual": dual,
        "compiled jvp": compiled,
        "linearize": lambda f: func.linearize(f, gate, up)[1](*by),
        "jacfwd": lambda f: func.jacfwd(f, both)(gate, up),
        "hessian": lambda f: func.hessian(total(f), both)(gate, up),
        "jacrev of jacrev": lambda f: func.jacrev(func.jacrev(total(f), both), both)(gate, up),
        "jvp of grad": lambda f: func.jvp(func.grad(total(f), both), (gate, up), by),
        "double backward": double_backward,
        "autograd.functional.hessian": lambda f: torch.autograd.functional.hessian(
            total(f), (gate, up), vectorize=True, outer_jacobian_strategy="forward-mode"
        ),
    }
    compare({f"torch {name}": way for name, way in ways.items()}, op, theirs)
    wide = [x.double().requires_grad_() for x in (gate, up)]

    def single(gate: Any, up: Any) -> Any:
        return op(gate.float(), up.float()).double()

    loose = {"eps": 1e-2, "atol": 1e-2, "rtol": 1e-2}
    print("gradcheck", torch.autograd.gradcheck(single, wide, check_forward_ad=True, **loose))
    again = torch.autograd.gradgradcheck(single, wide, check_fwd_over_rev=True, **loose)
    print("gradgradcheck", again)
    refuses("torch", lambda: func.jacfwd(func.jacfwd(total(op)))(gate, up))


def refuses(framework: Any, function: Any) -> None:
    """Print how a derivative is refused that the definitions do not name."""
    try:
        function()
    except NotImplementedError as error:
        print(framework, "refuses:", str(error).partition("\n")[0])
    else:
        print(framework, "refuses nothing")


in_jax(importlib.import_module(f"{PACKAGE}_jax").swiglu)
in_torch(importlib.import_module(f"{PACKAGE}_torch").swiglu)
