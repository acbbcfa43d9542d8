"""Workloads of mixtures of experts, of matrix products, and of what sorts and draws."""

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

_torch: Any = functional
_jax: Any = jax
_jnp: Any = jnp


def _linear_lax(a: Any, b: Any) -> Any:
    return _jax.lax.dot_general(a, b, (((1,), (1,)), ((), ())))


def gemm(call: Call) -> Case:
    """Return the case of a product, or of its gradients."""
    (m, n, k), t = call.size("M", "N", "K"), call.torch("T")
    arrays = [torch.randn(m, k).to(t), torch.randn(n, k).to(t)]
    if call.op == "gemm":
        return Case(call.op, call.label, arrays, ops.gemm, _torch.linear, _linear_lax)
    eager, lax = tape(_torch.linear, arrays), transposed(_linear_lax)
    arrays = [torch.randn(m, n).to(t), *arrays]
    return Case(call.op, call.label, arrays, ops.gemm_backward, eager, lax)


def _groups(m: int, e: int) -> torch.Tensor:
    """Return where the rows of each expert begin and end, with about as many for each."""
    ids = torch.randint(e, (m,)).bincount(minlength=e)
    return torch.cat([torch.zeros(1).long(), ids.cumsum(0)]).int()


def _grouped_loop(a: Any, b: Any, offsets: Any) -> Any:
    ends = offsets.tolist()
    c = a.new_empty(len(a), b.shape[1])
    for e, (begin, end) in enumerate(zip(ends, ends[1:])):
        torch.mm(a[begin:end], b[e].t(), out=c[begin:end])
    return c


def _grouped(a: Any, b: Any, offsets: Any) -> Any:
    return _torch.grouped_mm(a, b.mT, offs=offsets[1:])


def _grouped_lax(most: int, a: Any, b: Any, offsets: Any) -> Any:
    """Return the products with room for the most rows that an expert has.

    ``jax.lax.ragged_dot`` multiplies all rows by all matrices on the CPU.
    """
    places = offsets[:-1, None] + _jnp.arange(most)
    own = places < offsets[1:, None]
    rows = _jnp.where(own[..., None], a[_jnp.where(own, places, 0)], 0)
    made = _jnp.einsum("emk,enk->emn", rows, b)
    to = _jnp.where(own, places, len(a))
    return _jnp.zeros((len(a), b.shape[1]), a.dtype).at[to].set(made, mode="drop")


def _most(offsets: torch.Tensor) -> int:
    return int((offsets[1:] - offsets[:-1]).max())


def grouped_gemm(call: Call) -> Case:
    """Return the case of products with the matrices of experts."""
    (m, n, k, e), t = call.size("M", "N", "K", "E"), call.torch("T")
    arrays = [torch.randn(m, k).to(t), torch.randn(e, n, k).to(t), _groups(m, e)]
    lax = partial(_grouped_lax, _most(arrays[2]))
    case = Case(call.op, call.label, arrays, ops.grouped_gemm, _grouped_loop, lax)
    case.others["fresh"]["torch, grouped"] = lambda: lambda: _grouped(*arrays)
    return case


def grouped_gemm_backward(call: Call) -> Case:
    """Return the case of their gradients."""
    (m, n, k, e), t = call.size("M", "N", "K", "E"), call.torch("T")

    def eager(grad: Any, a: Any, b: Any, offsets: Any) -> Any:
        ends = offsets.tolist()
        grad_a, grad_b = torch.empty_like(a), torch.empty_like(b)
        for i, (begin, end) in enumerate(zip(ends, ends[1:])):
            torch.mm(grad[begin:end], b[i], out=grad_a[begin:end])
            torch.mm(grad[begin:end].t(), a[begin:end], out=grad_b[i])
        return grad_a, grad_b

    def lax(grad: Any, a: Any, b: Any, offsets: Any) -> Any:
        def product(a: Any, b: Any) -> Any:
            return _grouped_lax(most, a, b, offsets)

        return _jax.vjp(product, a, b)[1](grad)

    arrays = [torch.randn(m, n), torch.randn(m, k), torch.randn(e, n, k)]
    arrays = [*(x.to(t) for x in arrays), _groups(m, e)]
    most = _most(arrays[3])
    return Case(call.op, call.label, arrays, ops.grouped_gemm_backward, eager, lax)


def fused_moe(call: Call) -> Case:
    """Return the case of a layer, expert by expert in PyTorch, and with gathered matrices in JAX."""
    (n, d, i, e, k), t = call.size("N", "D", "I", "E", "k"), call.torch("T")

    def eager(x: Any, w1: Any, w2: Any, weights: Any, ids: Any) -> Any:
        y = torch.zeros(n, d)
        for expert in ids.unique().tolist():
            tokens, slots = (ids == expert).nonzero(as_tuple=True)
            gate, value = _torch.linear(x[tokens], w1[expert]).chunk(2, -1)
            made = _torch.linear(_torch.silu(gate) * value, w2[expert])
            y.index_add_(0, tokens, made * weights[tokens, slots, None])
        return y.to(t)

    def lax(x: Any, w1: Any, w2: Any, weights: Any, ids: Any) -> Any:
        both = _jnp.einsum("nd,nsid->nsi", x, w1[ids])
        hidden = _jax.nn.silu(both[..., :i]) * both[..., i:]
        made = _jnp.einsum("nsi,nsdi->nsd", hidden, w2[ids])
        return (made * weights[..., None]).sum(1).astype(x.dtype)

    w1, w2 = (torch.empty(s).normal_(0, 0.02) for s in ((e, 2 * i, d), (e, d, i)))
    weights, ids = torch.rand(n, e).topk(k)
    arrays = [torch.randn(n, d).to(t), w1.to(t), w2.to(t), weights, ids.int()]
    return Case(call.op, call.label, arrays, ops.fused_moe, eager, lax)


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
