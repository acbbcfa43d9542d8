"""The calls that ``kernels.py`` measures: an op beside the same thing in PyTorch and JAX."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import opcast_torch
import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

_ops: Any = opcast_torch
_aten: Any = torch.ops.aten
_torch: Any = functional
_jax: Any = jax
_jnp: Any = jnp
_nn: Any = jax.nn


@dataclass
class Case:
    """One op on arrays of one shape and dtype.

    Parameters
    ----------
    op
        Name of the op.
    arrays
        Its inputs.
    ours
        The call of the op on them.
    eager
        The same in PyTorch.
    lax
        The same in JAX, or None if JAX has nothing of the kind.
    results
        Bytes that the op writes.

    """

    op: str
    arrays: list[torch.Tensor]
    ours: Callable[..., Any]
    eager: Callable[..., Any]
    lax: Callable[..., Any] | None
    results: int
    peers: dict[str, Callable[[], Any]] = field(default_factory=dict[str, "Callable[[], Any]"])

    @property
    def bytes(self) -> int:
        """Bytes that the op reads and writes."""
        return self.results + sum(x.numel() * x.element_size() for x in self.arrays)

    def prepare(self) -> None:
        """Fill ``peers``: PyTorch eager and compiled, and JAX under jit."""
        compiled: Any = torch.compile(self.eager, dynamic=False)
        self.peers["torch"] = lambda: self.eager(*self.arrays)
        self.peers["torch.compile"] = lambda: compiled(*self.arrays)
        if self.lax is not None:
            jitted: Any = _jax.jit(self.lax)
            arrays: list[Any] = [_jax.dlpack.from_dlpack(x) for x in self.arrays]
            self.peers["jax.jit"] = lambda: jitted(*arrays).block_until_ready()


def _rms(x: Any, w: Any) -> Any:
    wide = x.astype(_jnp.float32)
    scale = _jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)
    return (wide * scale * w.astype(_jnp.float32)).astype(x.dtype)


def _layer(x: Any, w: Any, b: Any) -> Any:
    wide = x.astype(_jnp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    scale = _jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
    return (centred * scale * w + b).astype(x.dtype)


def _halves(x: Any) -> tuple[Any, Any]:
    width = x.shape[-1] // 2
    return x[..., :width], x[..., width:]


def _gated(x: torch.Tensor) -> torch.Tensor:
    gate, value = _halves(x)
    return _torch.silu(gate) * value


def _gated_lax(x: Any) -> Any:
    gate, value = _halves(x)
    return _nn.silu(gate) * value


def cases(shape: tuple[int, int], dtype: torch.dtype) -> list[Case]:
    """Return the cases of a shape and dtype."""
    n = shape[1]
    x, y = torch.randn(shape).to(dtype), torch.randn(shape).to(dtype)
    pair = torch.randn(shape[0], 2 * n).to(dtype)
    w, b, soft = torch.randn(n).to(dtype), torch.randn(n).to(dtype), torch.softmax(x, -1)
    size = x.numel() * x.element_size()

    def rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return _torch.rms_norm(x, (n,), w)

    def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _torch.layer_norm(x, (n,), w, b)

    def softmax_backward(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return _aten._softmax_backward_data(grad, y, -1, dtype)

    tanh, exact = partial(_ops.gelu, approximate="tanh"), partial(_ops.gelu, approximate="none")
    gelu = partial(_torch.gelu, approximate="tanh")
    back = partial(_ops.gelu_backward, approximate="none")
    made = [
        ("eltwise_add", [x, y], _ops.eltwise_add, torch.add, _jnp.add),
        ("eltwise_relu", [x], _ops.eltwise_relu, torch.relu, _nn.relu),
        ("silu_and_mul", [pair], _ops.silu_and_mul, _gated, _gated_lax),
        ("gelu, tanh", [x], tanh, gelu, partial(_nn.gelu, approximate=True)),
        ("gelu, exact", [x], exact, _torch.gelu, partial(_nn.gelu, approximate=False)),
        ("rms_norm", [x, w], _ops.rms_norm, rms, _rms),
        ("layernorm2d", [x, w, b], _ops.layernorm2d, layer, _layer),
        ("softmax", [x], _ops.softmax, partial(torch.softmax, dim=-1), _nn.softmax),
        ("softmax_backward", [y, soft], _ops.softmax_backward, softmax_backward, None),
        ("gelu_backward, exact", [y, x], back, _aten.gelu_backward, None),
    ]
    return [Case(*one, size) for one in made]
