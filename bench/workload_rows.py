"""Workloads of ops on rows: gates, norms, losses, embeddings, rotary embeddings, dropout."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import kernel_gradients
import kernel_rows
import torch
from kernel_case import Case
from kernel_gradients import tape, transposed
from kernel_rows import aten, halves, layer_lax, ops
from torch.nn import functional

if TYPE_CHECKING:
    from workload_calls import Call

_torch: Any = functional
_jax: Any = jax
_jnp: Any = jnp


def _gate(call: Call, approximate: str) -> tuple[torch.Tensor, Any, Any]:
    def gated(x: torch.Tensor) -> torch.Tensor:
        gate, value = halves(x)
        return _torch.gelu(gate, approximate=approximate) * value

    def lax(x: Any) -> Any:
        gate, value = halves(x)
        return _jax.nn.gelu(gate, approximate=approximate == "tanh") * value

    x = torch.randn(*call.lead, 2 * call.values["D"]).to(call.torch("T"))
    return x, gated, lax


def gate(call: Call, approximate: str) -> Case:
    """Return the case of a gate by GELU."""
    x, gated, lax = _gate(call, approximate)
    return Case(call.op, call.label, [x], getattr(ops, call.op), gated, lax)


def gate_backward(call: Call, approximate: str) -> Case:
    """Return the case of its gradient."""
    x, gated, lax = _gate(call, approximate)
    grad = torch.randn_like(halves(x)[0])
    arrays, ours = [grad, x], getattr(ops, call.op)
    return Case(call.op, call.label, arrays, ours, tape(gated, [x]), transposed(lax))


def _norm(call: Call) -> list[torch.Tensor]:
    (n,), t = call.size("N"), call.torch("T")
    w, b = (torch.randn(n).to(call.torch("W")) for _ in range(2))
    return [torch.randn(*call.lead, n).to(t), w, b]


def layer_norm(call: Call) -> Case:
    """Return the case of a norm of rows."""

    def eager(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _torch.layer_norm(x, w.shape, w, b)

    return Case(call.op, call.label, _norm(call), ops.layer_norm, eager, layer_lax)


def layer_norm_backward(call: Call) -> Case:
    """Return the case of its gradient; JAX computes mean and rstd again."""

    def forward(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _torch.layer_norm(x, w.shape, w, b)

    def lax(grad: Any, x: Any, w: Any, mean: Any, rstd: Any, b: Any) -> Any:
        def again(x: Any, w: Any, b: Any) -> Any:
            wide = (x.astype(_jnp.float32) - mean[..., None]) * rstd[..., None]
            return (wide * w + b).astype(x.dtype)

        centred = (x.astype(_jnp.float32) - mean[..., None]) * rstd[..., None]
        weighted = grad.astype(_jnp.float32) * w
        along = centred * (weighted * centred).mean(-1, keepdims=True)
        grad_x = rstd[..., None] * (weighted - weighted.mean(-1, keepdims=True) - along)
        _, grad_w, grad_b = _jax.vjp(again, x, w, b)[1](grad)
        return grad_x.astype(x.dtype), grad_w, grad_b

    x, w, b = _norm(call)
    mean = x.float().mean(-1)
    rstd = torch.rsqrt(x.float().var(-1, correction=0) + 1e-5)
    arrays = [torch.randn_like(x), x, w, mean, rstd, b]
    return Case(call.op, call.label, arrays, ops.layer_norm_backward, tape(forward, [x, w, b]), lax)


def fused_add_layer_norm(call: Call) -> Case:
    """Return the case of the sum that is normalised in place, which it is in PyTorch, too."""

    def eager(x: Any, residual: Any, w: Any, b: Any) -> Any:
        residual.add_(x)
        x.copy_(_torch.layer_norm(residual, w.shape, w, b))
        return x, residual

    def lax(x: Any, residual: Any, w: Any, b: Any) -> Any:
        total = x + residual
        return layer_lax(total, w, b), total

    x, w, b = _norm(call)
    arrays = [x, torch.randn_like(x), w, b]
    return Case(call.op, call.label, arrays, ops.fused_add_layer_norm, eager, lax)


def measured(call: Call) -> Case:
    """Return the case of an op that ``kernels.py`` measures, too."""
    rows, n = prod(call.lead), call.values["D" if "D" in call.values else "N"]
    for group in kernel_rows.cases, kernel_gradients.cases:
        for case in group(rows, n, call.torch("T")):
            if case.op == call.op:
                return replace(case, shape=call.label)
    raise LookupError(call.op)


def rope(call: Call) -> Case:
    """Return the case of rotary embeddings, or of their gradients, which turn backwards."""
    n, hq, hk, d, r, p = call.size("N", "Hq", "Hk", "D", "R", "P")
    t, sign = call.torch("T"), -1.0 if call.op.endswith("backward") else 1.0

    def turned(cat: Any, x: Any, cos: Any, sin: Any) -> Any:
        a, b = x[..., : r // 2], x[..., r // 2 :]
        return cat([a * cos - b * sin, b * cos + a * sin], -1)

    def formula(cat: Any, cast: Any, q: Any, k: Any, positions: Any, cache: Any) -> Any:
        rows = cast(cache[positions])[:, None]
        cos, sin = rows[..., : r // 2], rows[..., r // 2 :] * sign
        return turned(cat, q, cos, sin), turned(cat, k, cos, sin)

    angles = torch.arange(p)[:, None] * 1e4 ** (-torch.arange(0, r, 2) / r)
    cache = torch.cat([angles.cos(), angles.sin()], -1)
    positions = torch.randint(p, (n,), dtype=torch.int64)
    arrays = [torch.randn(n, hq, d).to(t), torch.randn(n, hk, d).to(t), positions, cache]
    eager = partial(formula, torch.cat, lambda x: x.to(t))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportUnknownLambdaType]
    narrow = str(t).removeprefix("torch.")
    lax = partial(formula, _jnp.concatenate, lambda x: x.astype(narrow))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportUnknownLambdaType]
    return Case(call.op, call.label, arrays, getattr(ops, call.op), eager, lax)


def embedding(call: Call) -> Case:
    """Return the case of rows that are looked up."""
    v, d = call.size("V", "D")
    ids, weight = torch.randint(v, call.lead), torch.randn(v, d).to(call.torch("T"))

    def lax(ids: Any, weight: Any) -> Any:
        return weight.at[ids].get(mode="promise_in_bounds")

    return Case(call.op, call.label, [ids, weight], ops.embedding, _torch.embedding, lax)


def embedding_backward(call: Call) -> Case:
    """Return the case of their gradient."""
    v, d = call.size("V", "D")
    ids, weight = torch.randint(v, call.lead), torch.randn(v, d).to(call.torch("T"))
    grad = torch.randn(*call.lead, d).to(weight.dtype)

    def eager(grad: Any, ids: Any, weight: Any) -> Any:
        return aten.embedding_dense_backward(grad, ids, len(weight), -1, False)

    def lax(grad: Any, ids: Any, weight: Any) -> Any:
        return _jnp.zeros_like(weight).at[ids].add(grad)

    arrays = [grad, ids, weight]
    return Case(call.op, call.label, arrays, ops.embedding_backward, eager, lax)


def cross_entropy(call: Call) -> Case:
    """Return the case of a loss per row."""

    def eager(logits: Any, target: Any) -> Any:
        return _torch.cross_entropy(logits, target, reduction="none").float()

    def lax(logits: Any, target: Any) -> Any:
        wide = logits.astype(_jnp.float32)
        picked = _jnp.take_along_axis(wide, target[:, None], -1)[:, 0]
        return _jax.nn.logsumexp(wide, -1) - picked

    (v,) = call.size("V")
    logits = torch.randn(*call.lead, v).to(call.torch("T"))
    arrays = [logits, torch.randint(v, call.lead)]
    return Case(call.op, call.label, arrays, ops.cross_entropy, eager, lax)


def cross_entropy_backward(call: Call) -> Case:
    """Return the case of its gradient; JAX gets the log-sum-exps, too."""

    def forward(logits: torch.Tensor) -> torch.Tensor:
        return _torch.cross_entropy(logits, target, reduction="none")

    def lax(grad: Any, logits: Any, target: Any, lse: Any) -> Any:
        wide = _jnp.exp(logits.astype(_jnp.float32) - lse[:, None])
        hit = _jnp.arange(wide.shape[-1]) == target[:, None]
        return (grad[:, None] * (wide - hit)).astype(logits.dtype)

    (v,) = call.size("V")
    logits = torch.randn(*call.lead, v).to(call.torch("T"))
    target, grad = torch.randint(v, call.lead), torch.randn(call.lead)
    lse = torch.logsumexp(logits.float(), -1)
    back, own = tape(forward, [logits]), grad.to(logits.dtype)

    def eager(*_: torch.Tensor) -> Any:
        return back(own)

    arrays = [grad, logits, target, lse]
    return Case(call.op, call.label, arrays, ops.cross_entropy_backward, eager, lax)


def dropout(call: Call) -> Case:
    """Return the case of dropout with half of the numbers, from other random numbers than ours."""
    key = _jax.random.key(1)

    def lax(x: Any, _: Any) -> Any:
        return _jnp.where(_jax.random.bernoulli(key, 0.5, x.shape), x * 2, 0).astype(x.dtype)

    def eager(x: Any, _: Any) -> Any:
        return _torch.dropout(x, 0.5, training=True)

    x = torch.randn(call.values["N"]).to(call.torch("T"))
    return Case(call.op, call.label, [x, torch.tensor([1, 2])], ops.dropout, eager, lax)


def dropout_backward(call: Call) -> Case:
    """Return the case of its gradient, for which PyTorch has kept what it multiplied by."""

    def forward(x: torch.Tensor) -> torch.Tensor:
        return _torch.dropout(x, 0.5, training=True)

    def lax(grad: Any, kept: Any) -> Any:
        bits = _jnp.unpackbits(kept, bitorder="little")[: len(grad)]
        return _jnp.where(bits == 1, grad * 2, 0).astype(grad.dtype)

    x = torch.randn(call.values["N"]).to(call.torch("T"))
    bits = torch.randint(0, 256, (-(-len(x) // 8),), dtype=torch.uint8)
    arrays = [torch.randn_like(x), bits]
    return Case(call.op, call.label, arrays, ops.dropout_backward, tape(forward, [x]), lax)
