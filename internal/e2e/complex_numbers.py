"""Hold the gradients of an op on complex numbers against those of each framework's own formula."""

import importlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

OPS = "inference"
turn_torch: Any = importlib.import_module(f"{OPS}_torch").rotary_complex
turn_jax: Any = importlib.import_module(f"{OPS}_jax").rotary_complex
turn_numpy: Any = importlib.import_module(f"{OPS}_numpy").rotary_complex
_torch: Any = torch
_jax: Any = jax

rng = np.random.default_rng(0)


def numbers(*shape: int) -> Any:
    """Return complex numbers."""
    parts = rng.standard_normal((2, *shape), np.float32)
    return parts[0] + 1j * parts[1]


def own(x: Any, freqs_cis: Any) -> Any:
    """Compute the op in the framework of its arguments."""
    return x * freqs_cis[:, None]


x, freqs = numbers(2, 5, 3, 4), numbers(5, 4)


def same(a: Any, b: Any) -> bool:
    """Whether numbers are equal up to rounding."""
    return np.allclose(np.asarray(a), np.asarray(b), 1e-5, 1e-5)


def loss(y: Any, xp: Any) -> Any:
    """Return a real number that is no holomorphic function of the results."""
    return (xp.abs(y) ** 3 + xp.imag(y) * xp.real(y)).sum()


def by_torch(op: Any) -> Any:
    """Return gradients by PyTorch, whose imaginary part is the derivative by that of the number."""
    leaves = [_torch.from_numpy(a).requires_grad_() for a in (x, freqs)]
    return _torch.autograd.grad(loss(op(*leaves), torch), leaves)


def by_jax(op: Any) -> Any:
    """Return gradients by JAX, which are the conjugates of these."""

    def total(*values: Any) -> Any:
        return loss(op(*values), jnp)

    return _jax.grad(total, (0, 1))(x, freqs)


print(same(turn_numpy(x, freqs), own(x, freqs)))
for ours, theirs in (
    (by_torch(turn_torch), by_torch(own)),
    (by_jax(turn_jax), by_jax(own)),
    (by_jax(_jax.jit(turn_jax)), [g.conj().resolve_conj() for g in by_torch(own)]),
    (by_torch(_torch.compile(turn_torch, backend="aot_eager")), by_torch(own)),
):
    print(all(map(same, ours, theirs)))
views = _torch.from_numpy(x)
print(same(turn_torch(views.conj(), views[0, :, 0].conj()), own(x.conj(), x[0, :, 0].conj())))
for wrong in (
    lambda: turn_numpy(x.real.copy(), freqs),
    lambda: turn_numpy(x.astype(np.complex128), freqs),
    lambda: turn_torch(views, views[0, :, 0].contiguous(), out=_torch.empty_like(views).conj()),
):
    try:
        wrong()
    except (TypeError, ValueError) as error:
        print(error)
