"""Workloads of gpt-oss's gate and of norms of groups of channels."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import torch
from kernel_case import Case
from kernel_gradients import tape, transposed
from kernel_rows import ops
from torch.nn import functional

if TYPE_CHECKING:
    from workload_calls import Call

_torch: Any = torch
_functional: Any = functional
_jax: Any = jax
_jnp: Any = jnp

_ALPHA, _LIMIT = 1.702, 7.0


def _gated(x: torch.Tensor) -> torch.Tensor:
    gate, value = x[..., ::2].clamp(max=_LIMIT), x[..., 1::2].clamp(-_LIMIT, _LIMIT)
    return (value + 1) * gate * torch.sigmoid(_ALPHA * gate)


def _gated_lax(x: Any) -> Any:
    wide = x.astype(_jnp.float32)
    gate, value = _jnp.minimum(wide[..., ::2], _LIMIT), _jnp.clip(wide[..., 1::2], -_LIMIT, _LIMIT)
    return ((value + 1) * gate * _jax.nn.sigmoid(_ALPHA * gate)).astype(x.dtype)


def gate(call: Call) -> Case:
    """Return the case of gpt-oss's gate, or of its gradient."""
    x = torch.randn(*call.lead, 2 * call.values["D"]).to(call.torch("T"))
    ours = getattr(ops, call.op)
    if not call.op.endswith("backward"):
        return Case(call.op, call.label, [x], ours, _gated, _gated_lax)
    arrays = [torch.randn_like(x[..., ::2]).contiguous(), x]
    return Case(call.op, call.label, arrays, ours, tape(_gated, [x]), transposed(_gated_lax))


def _normalised(groups: int, x: Any, w: Any, b: Any) -> Any:
    wide = x.astype(_jnp.float32).reshape(len(x), groups, -1)
    centred = wide - wide.mean(-1, keepdims=True)
    scale = _jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
    return ((centred * scale).reshape(x.shape) * w[:, None] + b[:, None]).astype(x.dtype)


def _channels(call: Call) -> list[torch.Tensor]:
    b, c, s = call.size("B", "C", "S")
    weight, bias = (torch.randn(c).to(call.torch("W")) for _ in range(2))
    return [torch.randn(b, c, s).to(call.torch("T")), weight, bias]


def group_norm(call: Call) -> Case:
    """Return the case of a norm of groups of channels."""
    groups = call.values["num_groups"]

    def eager(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _functional.group_norm(x, groups, w, b)

    ours = partial(ops.group_norm, num_groups=groups)
    lax = partial(_normalised, groups)
    return Case(call.op, call.label, _channels(call), ours, eager, lax)


def group_norm_backward(call: Call) -> Case:
    """Return the case of its gradient; JAX computes the forward part again."""
    groups = call.values["num_groups"]
    x, w, b = _channels(call)

    def forward(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _functional.group_norm(x, groups, w, b)

    def lax(grad: Any, x: Any, w: Any, _mean: Any, _rstd: Any, b: Any) -> Any:
        return _jax.vjp(partial(_normalised, groups), x, w, b)[1](grad)

    rows = x.float().reshape(len(x), groups, -1)
    rstd = torch.rsqrt(rows.var(-1, correction=0) + 1e-5)
    arrays = [torch.randn_like(x), x, w, rows.mean(-1), rstd, b]
    ours = partial(ops.group_norm_backward, num_groups=groups)
    return Case(call.op, call.label, arrays, ours, tape(forward, [x, w, b]), lax)
