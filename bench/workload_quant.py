"""Workloads of ops that quantise, and of products of quantised matrices."""

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
_any: Any = torch


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _most(dtype: torch.dtype) -> float:
    return 127.0 if dtype == torch.int8 else torch.finfo(dtype).max


def _narrow(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    most = _most(dtype)
    whole = x.round() if dtype == torch.int8 else x
    return whole.clamp(-most, most).to(dtype)


def _narrow_lax(x: Any, dtype: torch.dtype) -> Any:
    most = _most(dtype)
    return _jnp.clip(_jnp.round(x) if dtype == torch.int8 else x, -most, most).astype(_name(dtype))


def per_tensor_quant(call: Call) -> Case:
    """Return the case of one scale."""
    q = call.torch("Q")
    x = torch.randn(call.lead).to(call.torch("T"))
    arrays, ours = [x, torch.tensor([0.01])], partial(ops.per_tensor_quant, out_dtype=q)

    def eager(x: Any, scale: Any) -> Any:
        return _narrow(x / scale, q)

    def lax(x: Any, scale: Any) -> Any:
        return _narrow_lax(x / scale, q)

    return Case(call.op, call.label, arrays, ours, eager, lax)


def per_group_quant(call: Call) -> Case:
    """Return the case of a scale for each row, or for each group of columns."""
    q, n = call.torch("Q"), call.values["N"]
    size = call.values.get("group_size", n)
    given = {"group_size": size} if "group_size" in call.values else {}
    ours = partial(getattr(ops, call.op), out_dtype=q, **given)
    most = _most(q)

    def eager(x: Any) -> Any:
        groups = x.view(*x.shape[:-1], n // size, size)
        scale = groups.abs().amax(-1, keepdim=True).float() / most
        return _narrow(groups / scale, q).view(x.shape), scale[..., 0]

    def lax(x: Any) -> Any:
        groups = x.reshape(*x.shape[:-1], n // size, size).astype(_jnp.float32)
        scale = _jnp.abs(groups).max(-1, keepdims=True) / most
        return _narrow_lax(groups / scale, q).reshape(x.shape), scale[..., 0]

    x = torch.randn(*call.lead, n).to(call.torch("T"))
    return Case(call.op, call.label, [x], ours, eager, lax)


def dequantize(call: Call) -> Case:
    """Return the case of numbers times their scales."""
    (n, groups), o = call.size("N", "G"), call.torch("O")

    def eager(q: Any, scale: Any) -> Any:
        return q.float().view(*scale.shape, -1).mul_(scale[..., None]).to(o).view(q.shape)

    def lax(q: Any, scale: Any) -> Any:
        wide = q.astype(_jnp.float32).reshape(*scale.shape, -1) * scale[..., None]
        return wide.astype(_name(o)).reshape(q.shape)

    arrays = [_narrow(40 * torch.randn(*call.lead, n), call.torch("Q"))]
    arrays += [torch.rand(*call.lead, groups)]
    ours = partial(ops.dequantize, out_dtype=o)
    return Case(call.op, call.label, arrays, ours, eager, lax)


def gemm_a8w8(call: Call) -> Case:
    """Return the case of a product of quantised rows, which PyTorch has for both kinds of numbers."""
    (n, k), q, o = call.size("N", "K"), call.torch("Q"), call.torch("O")

    def eager(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
        if q == torch.int8:
            return (_any._int_mm(a, b.t()).float() * a_scale * b_scale.t()).to(o)
        return _any._scaled_mm(a, b.t(), a_scale, b_scale.t(), out_dtype=o)

    def widened(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
        return (_torch.linear(a.to(o), b.to(o)) * a_scale * b_scale.t()).to(o)

    def lax(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
        contract = (((1,), (1,)), ((), ()))
        if q == torch.int8:
            sums = _jax.lax.dot_general(a, b, contract, preferred_element_type=_jnp.int32)
        else:
            wide = [x.astype(_name(o)) for x in (a, b)]
            sums = _jax.lax.dot_general(*wide, contract)
        return (sums.astype(_jnp.float32) * a_scale * b_scale.T).astype(_name(o))

    m = call.lead[0]
    arrays = [_narrow(40 * torch.randn(rows, k), q) for rows in (m, n)]
    arrays += [torch.rand(m, 1), torch.rand(n, 1)]
    case = Case(call.op, call.label, arrays, partial(ops.gemm_a8w8, out_dtype=o), eager, lax)
    case.others["fresh"]["torch, widened"] = lambda: lambda: widened(*arrays)
    return case


def gemm_a8w8_blockscale(call: Call) -> Case:
    """Return the case of a product of numbers with a scale for each block of both matrices."""
    (n, k), q, o = call.size("N", "K"), call.torch("Q"), call.torch("O")
    m = call.lead[0]

    def eager(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
        left = (a.float().view(m, -1, 128) * a_scale[..., None]).to(o).view(m, k)
        right = b.float().view(n // 128, 128, -1, 128).mul_(b_scale[:, None, :, None])
        return _torch.linear(left, right.to(o).view(n, k))

    def lax(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
        left = a.astype(_jnp.float32).reshape(m, -1, 128) * a_scale[..., None]
        right = b.astype(_jnp.float32).reshape(n // 128, 128, -1, 128) * b_scale[:, None, :, None]
        narrow = [x.astype(_name(o)).reshape(-1, k) for x in (left, right)]
        return _jax.lax.dot_general(*narrow, (((1,), (1,)), ((), ())))

    arrays = [_narrow(40 * torch.randn(rows, k), q) for rows in (m, n)]
    arrays += [torch.rand(m, k // 128), torch.rand(n // 128, k // 128)]
    ours = partial(ops.gemm_a8w8_blockscale, out_dtype=o)
    return Case(call.op, call.label, arrays, ours, eager, lax)


def gemm_w4a16(call: Call) -> Case:
    """Return the case of a product with weights of four bits, which the frameworks unpack first.

    PyTorch has a product of its own, too, for a layout of its own, which is made beforehand.
    """
    (n, k, size), t = call.size("N", "K", "group_size"), call.torch("T")

    def eager(a: Any, packed: Any, scale: Any) -> Any:
        codes = torch.stack([packed & 15, packed >> 4], -1).view(n, -1, size)
        return _torch.linear(a, ((codes.to(t) - 8) * scale[..., None]).view(n, k))

    def lax(a: Any, packed: Any, scale: Any) -> Any:
        codes = _jnp.stack([packed & 15, packed >> 4], -1).reshape(n, -1, size)
        b = ((codes.astype(a.dtype) - 8) * scale[..., None]).reshape(n, k)
        return _jax.lax.dot_general(a, b, (((1,), (1,)), ((), ())))

    def prepacked() -> Any:
        aten: Any = torch.ops.aten
        codes = torch.stack([packed & 15, packed >> 4], -1).view(n, k)
        own = aten._convert_weight_to_int4pack_for_cpu(codes.int(), 2)
        zeros = torch.zeros_like(scale)
        both = torch.stack([scale, zeros], -1).transpose(0, 1).contiguous()
        return lambda: aten._weight_int4pack_mm_for_cpu(a, own, size, both)

    a = torch.randn(*call.lead, k).to(t)
    packed = torch.randint(256, (n, k // 2), dtype=torch.uint8)
    scale = torch.rand(n, k // size).to(t)
    ours = partial(ops.gemm_w4a16, group_size=size)
    case = Case(call.op, call.label, [a, packed, scale], ours, eager, lax)
    case.others["fresh"]["torch, packed before"] = prepacked
    return case
