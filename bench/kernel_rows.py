"""Cases of ops on rows and elements: arithmetic, gates, norms, softmax."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import opcast_torch
import torch
from kernel_case import Case, like
from kernel_peers import peer
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Iterator

ops: Any = opcast_torch
aten: Any = torch.ops.aten
_torch: Any = functional
_jax: Any = jax
_jnp: Any = jnp
_nn: Any = jax.nn

# What users of JAX write.
rms_lax = peer("rms_norm", "jax", eps=1e-6)
layer_lax = peer("layer_norm", "jax", eps=1e-5)
gated_lax = peer("silu_and_mul", "jax")


def halves(x: Any) -> tuple[Any, Any]:
    """Return gates and values."""
    width = x.shape[-1] // 2
    return x[..., :width], x[..., width:]


def gated(x: torch.Tensor) -> torch.Tensor:
    """Return what PyTorch's users write for silu_and_mul."""
    gate, value = halves(x)
    return _torch.silu(gate) * value


def _gated_out(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    gate, value = halves(x)
    return torch.mul(_torch.silu(gate), value, out=y)


def _softmax_out(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return aten._softmax.out(x, -1, False, out=y)


def cases(rows: int, n: int, dtype: torch.dtype) -> Iterator[Case]:
    """Yield the cases of ops whose results have this shape and dtype."""
    shape = f"{rows}x{n}"
    x, y = torch.randn(rows, n).to(dtype), torch.randn(rows, n).to(dtype)
    pair = torch.randn(rows, 2 * n).to(dtype)
    w, b = torch.randn(n).to(dtype), torch.randn(n).to(dtype)

    def rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return _torch.rms_norm(x, (n,), w, 1e-6)

    def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _torch.layer_norm(x, (n,), w, b)

    def add_out(c: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.add(a, b, out=c)

    def relu_out(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.clamp_min(x, 0, out=y)

    made: list[tuple[str, list[torch.Tensor], Any, Any, Any, Any]] = [
        ("eltwise_add", [x, y], ops.eltwise_add, torch.add, _jnp.add, add_out),
        ("eltwise_relu", [x], ops.eltwise_relu, torch.relu, _nn.relu, relu_out),
        ("silu_and_mul", [pair], ops.silu_and_mul, gated, gated_lax, _gated_out),
        ("rms_norm", [x, w], ops.rms_norm, rms, rms_lax, None),
        ("layernorm2d", [x, w, b], ops.layernorm2d, layer, layer_lax, None),
        ("softmax", [x], ops.softmax, partial(torch.softmax, dim=-1), _nn.softmax, _softmax_out),
    ]
    for kind, approximate in ("exact", "none"), ("tanh", "tanh"):
        call = partial(ops.gelu, approximate=approximate)
        eager = partial(_torch.gelu, approximate=approximate)
        lax = partial(_nn.gelu, approximate=approximate == "tanh")
        out = partial(_gelu_out, approximate=approximate)
        made.append((f"gelu, {kind}", [x], call, eager, lax, out))
    for op, arrays, call, eager, lax, out in made:
        yield Case(op, shape, arrays, call, eager, lax, like(x), eager_out=out, formula=eager)
    yield _fused(shape, x, y, w)


def _gelu_out(y: torch.Tensor, x: torch.Tensor, approximate: str) -> torch.Tensor:
    return aten.gelu.out(x, approximate=approximate, out=y)


def _fused(shape: str, x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor) -> Case:
    """Return the case of the sum that is normalised in place."""

    def add(x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor) -> None:
        residual.add_(x)
        x.copy_(_torch.rms_norm(residual, (x.shape[-1],), w, 1e-6))

    def formula(x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor) -> Any:
        total = x + residual  # in place, the compiler of PyTorch 2.15 raises a KeyError
        return _torch.rms_norm(total, (x.shape[-1],), w, 1e-6), total

    def lax(x: Any, residual: Any, w: Any) -> Any:
        total = x + residual
        return rms_lax(total, w), total

    arrays = [x, residual, w]
    traffic = 4 * x.numel() * x.element_size()
    call = ops.fused_add_rms_norm
    return Case(
        "fused_add_rms_norm", shape, arrays, call, add, lax, formula=formula, traffic=traffic
    )
