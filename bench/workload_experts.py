"""Workloads of mixtures of experts: routers, and rows that are put in their order and back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import torch
from kernel_case import Case
from kernel_rows import ops
from torch.nn import functional

if TYPE_CHECKING:
    from workload_calls import Call

_torch: Any = functional
_jax: Any = jax
_jnp: Any = jnp


def topk_softmax(call: Call) -> Case:
    """Return the case of a router; where logits are equal, ids are as good as each other."""
    (n, e, k), t = call.size("N", "E", "k"), call.torch("T")
    again = call.values.get("renormalize", False)

    def eager(gating: Any) -> Any:
        weights, ids = gating.float().softmax(-1).topk(k)
        ids.int()
        return weights / weights.sum(-1, keepdim=True) if again else weights

    def lax(gating: Any) -> Any:
        weights, ids = _jax.lax.top_k(_jax.nn.softmax(gating.astype(_jnp.float32)), k)
        return (weights / weights.sum(-1, keepdims=True) if again else weights), ids

    def chosen_first(gating: Any) -> Any:
        logits, ids = gating.topk(k)
        ids.int()
        return logits.float().softmax(-1)

    def ours(gating: Any) -> Any:
        return ops.topk_softmax(gating, k=k, renormalize=again)[0]

    arrays = [torch.randn(n, e).to(t)]
    case = Case(call.op, call.label, arrays, ours, eager, lax)
    if again:
        case.others["fresh"]["torch, chosen first"] = lambda: lambda: chosen_first(*arrays)
    return case


def grouped_topk(call: Call) -> Case:
    """Return the case of a router by groups, as DeepSeek's model has it."""
    n, e, k, groups, kept = call.size("N", "E", "k", "num_groups", "topk_groups")
    factor = call.values["routed_scaling_factor"]

    def eager(scores: Any, bias: Any) -> Any:
        values = scores.sigmoid()
        compared = values + bias
        worth = compared.view(n, groups, -1).topk(2, -1).values.sum(-1)
        mask = torch.zeros(n, groups).scatter_(1, worth.topk(kept, sorted=False).indices, 1)
        mask = mask[..., None].expand(n, groups, e // groups).reshape(n, e).bool()
        ids = compared.masked_fill(~mask, -torch.inf).topk(k).indices
        weights = values.gather(1, ids)
        return weights / (weights.sum(-1, keepdim=True) + 1e-20) * factor, ids.int()

    def lax(scores: Any, bias: Any) -> Any:
        values = _jax.nn.sigmoid(scores)
        compared = values + bias
        worth = _jax.lax.top_k(compared.reshape(n, groups, -1), 2)[0].sum(-1)
        chosen = _jax.nn.one_hot(_jax.lax.top_k(worth, kept)[1], groups).sum(1)
        mask = _jnp.repeat(chosen > 0, e // groups, 1)
        ids = _jax.lax.top_k(_jnp.where(mask, compared, -_jnp.inf), k)[1]
        weights = _jnp.take_along_axis(values, ids, 1)
        return weights / (weights.sum(-1, keepdims=True) + 1e-20) * factor, ids

    ours = partial(
        ops.grouped_topk, k=k, num_groups=groups, topk_groups=kept, routed_scaling_factor=factor
    )
    arrays = [torch.randn(n, e).to(call.torch("T")), torch.randn(e)]
    return Case(call.op, call.label, arrays, ours, eager, lax)


def moe_align_block_size(call: Call) -> Case:
    """Return the case of blocks of slots by expert."""
    n, k, experts, size = call.size("N", "k", "num_experts", "block_size")
    room = n * k + experts * (size - 1)
    blocks = -(-room // size)

    def eager(ids: Any) -> Any:
        flat = ids.view(-1)
        order = flat.argsort(stable=True)
        counts = flat.bincount(minlength=experts)
        padded = (counts + size - 1) // size * size
        ends = padded.cumsum(0)
        shift = ends - padded - (counts.cumsum(0) - counts)
        own = flat[order]
        to = torch.full((room,), n * k, dtype=torch.int32)
        to[torch.arange(n * k) + shift[own]] = order.int()
        places = torch.searchsorted(ends, torch.arange(blocks) * size, right=True)
        return to, torch.where(places < experts, places, -1).int(), ends[-1:].int()

    def lax(ids: Any) -> Any:
        flat = ids.reshape(-1)
        order = _jnp.argsort(flat, stable=True)
        counts = _jnp.bincount(flat, length=experts)
        padded = (counts + size - 1) // size * size
        ends = padded.cumsum()
        shift = ends - padded - (counts.cumsum() - counts)
        to = _jnp.full(room, n * k, _jnp.int32)
        to = to.at[_jnp.arange(n * k) + shift[flat[order]]].set(order, unique_indices=True)
        places = _jnp.searchsorted(ends, _jnp.arange(blocks) * size, side="right")
        return to, _jnp.where(places < experts, places, -1).astype(_jnp.int32), ends[-1:]

    arrays = [torch.randint(experts, (n, k), dtype=torch.int32)]
    ours = partial(ops.moe_align_block_size, num_experts=experts, block_size=size)
    return Case(call.op, call.label, arrays, ours, eager, lax)


def moe_permute(call: Call) -> Case:
    """Return the case of rows by expert."""
    n, d, k, experts = call.size("N", "D", "k", "num_experts")

    def eager(x: Any, ids: Any) -> Any:
        flat = ids.view(-1)
        order = flat.argsort(stable=True)
        places = torch.empty_like(order, dtype=torch.int32)
        places[order] = torch.arange(n * k, dtype=torch.int32)
        ends = _torch.pad(flat.bincount(minlength=experts).cumsum(0), (1, 0)).int()
        return x.index_select(0, order // k), places.view(n, k), ends

    def lax(x: Any, ids: Any) -> Any:
        flat = ids.reshape(-1)
        order = _jnp.argsort(flat, stable=True)
        places = _jnp.zeros(n * k, _jnp.int32).at[order].set(_jnp.arange(n * k))
        ends = _jnp.pad(_jnp.bincount(flat, length=experts).cumsum(), (1, 0))
        return x[order // k], places.reshape(n, k), ends

    x = torch.randn(n, d).to(call.torch("T"))
    arrays = [x, torch.rand(n, experts).topk(k).indices.int()]
    ours = partial(ops.moe_permute, num_experts=experts)
    return Case(call.op, call.label, arrays, ours, eager, lax)


def moe_unpermute(call: Call) -> Case:
    """Return the case of rows that are added up: weighted ones, or gradients of moe_permute's."""
    (n, d, k), t = call.size("N", "D", "k"), call.torch("T")
    weighted = call.op == "moe_unpermute"

    def eager(permuted: Any, places: Any, weights: Any) -> Any:
        rows = permuted[places]
        return (rows * weights[..., None] if weighted else rows).sum(1).to(t)

    def bag(permuted: Any, places: Any, weights: Any) -> Any:
        scales = weights.to(t) if weighted else None
        return _torch.embedding_bag(places, permuted, mode="sum", per_sample_weights=scales)

    def lax(permuted: Any, places: Any, weights: Any) -> Any:
        rows = permuted[places].astype(_jnp.float32)
        return (rows * weights[..., None] if weighted else rows).sum(1).astype(permuted.dtype)

    def ours(permuted: Any, places: Any, weights: Any) -> Any:
        if weighted:
            return ops.moe_unpermute(permuted, places, weights)
        return ops.moe_permute_backward(places, permuted)

    places = torch.randperm(n * k).int().view(n, k)
    arrays = [torch.randn(n * k, d).to(t), places, torch.rand(n, k)]
    case = Case(call.op, call.label, arrays, ours, eager, lax)
    case.others["fresh"]["torch, bags"] = lambda: lambda: bag(*arrays)
    return case


def moe_unpermute_backward(call: Call) -> Case:
    """Return the case of its gradients."""
    (n, d, k), t = call.size("N", "D", "k"), call.torch("T")

    def eager(grad: Any, permuted: Any, places: Any, weights: Any) -> Any:
        rows = torch.empty_like(permuted)
        rows[places.view(-1)] = (grad[:, None] * weights[..., None].to(t)).view(n * k, d)
        return rows, torch.bmm(permuted[places], grad[..., None])[..., 0].float()

    def lax(grad: Any, permuted: Any, places: Any, weights: Any) -> Any:
        def forward(permuted: Any, weights: Any) -> Any:
            rows = permuted[places].astype(_jnp.float32)
            return (rows * weights[..., None]).sum(1).astype(permuted.dtype)

        return _jax.vjp(forward, permuted, weights)[1](grad)

    places = torch.randperm(n * k).int().view(n, k)
    arrays = [torch.randn(n, d).to(t), torch.randn(n * k, d).to(t), places, torch.rand(n, k)]
    return Case(call.op, call.label, arrays, ops.moe_unpermute_backward, eager, lax)
