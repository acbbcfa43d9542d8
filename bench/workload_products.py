"""Workloads of matrix products: plain ones, and those with the matrices of experts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import torch
from kernel_case import Case
from kernel_gradients import tape, transposed
from kernel_peers import peer
from kernel_rows import ops
from torch.nn import functional

if TYPE_CHECKING:
    from workload_calls import Call

_torch: Any = functional
_jax: Any = jax
_jnp: Any = jnp
_linear_lax = peer("gemm", "jax", bias=None)


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
