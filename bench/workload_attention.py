"""Workloads of attention: over ragged sequences, over paged caches, over latent rows, and of its parts."""

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


def _together(q: Any, k: Any, v: Any, causal: bool, grouped: bool) -> Any:
    """Return PyTorch's attention of arrays [B, T, H, D], by its own groups of heads or by repeating."""
    if not grouped:
        times = q.shape[2] // k.shape[2]
        k, v = k.repeat_interleave(times, 2), v.repeat_interleave(times, 2)
    parts = [x.transpose(1, 2) for x in (q, k, v)]
    attend = _torch.scaled_dot_product_attention
    return attend(*parts, is_causal=causal, enable_gqa=grouped).transpose(1, 2)


def _one_by_one(q: Any, k: Any, v: Any, causal: bool, grouped: bool) -> Any:
    """Return the attention of one sequence."""
    return _together(q[None], k[None], v[None], causal, grouped)[0]


def _lax(q: Any, k: Any, v: Any, causal: bool) -> Any:
    attend = _jax.nn.dot_product_attention
    return attend(q[None], k[None], v[None], is_causal=causal)[0]


def _ragged(call: Call) -> tuple[list[torch.Tensor], list[torch.Tensor], bool]:
    """Return queries, keys and values of one sequence, its limits, and whether it is causal."""
    tq, tk, hq, hk, d, dv, b = call.size("Tq", "Tk", "Hq", "Hk", "D", "Dv", "B")
    assert b == 1, "peers here take one sequence"
    t = call.torch("T")
    shapes = (tq, hq, d), (tk, hk, d), (tk, hk, dv)
    limits = [torch.tensor([0, count], dtype=torch.int32) for count in (tq, tk)]
    return [torch.randn(*s).to(t) for s in shapes], limits, call.values["causal"]


def flash_attn_varlen(call: Call) -> Case:
    """Return the case of attention of one sequence."""
    (q, k, v), limits, causal = _ragged(call)

    def ours(q: Any, k: Any, v: Any) -> Any:
        return ops.flash_attn_varlen(q, k, v, *limits, causal=causal)

    eager = partial(_one_by_one, causal=causal, grouped=True)
    case = Case(call.op, call.label, [q, k, v], ours, eager, partial(_lax, causal=causal))
    repeated = partial(_one_by_one, causal=causal, grouped=False)
    case.others["fresh"]["torch, repeated heads"] = lambda: lambda: repeated(q, k, v)
    return case


def flash_attn_varlen_backward(call: Call) -> Case:
    """Return the case of its gradient."""
    (q, k, v), limits, causal = _ragged(call)
    o, lse = ops.flash_attn_varlen(q, k, v, *limits, causal=causal)
    grad, zeros = torch.randn_like(o), torch.zeros_like(lse)

    def ours(grad: Any, q: Any, k: Any, v: Any) -> Any:
        back = ops.flash_attn_varlen_backward
        return back(grad, zeros, q, k, v, *limits, o, lse, causal=causal)

    eager = tape(partial(_one_by_one, causal=causal, grouped=True), [q, k, v])
    lax = transposed(partial(_lax, causal=causal))
    case = Case(call.op, call.label, [grad, q, k, v], ours, eager, lax)

    def repeated() -> Any:
        back = tape(partial(_one_by_one, causal=causal, grouped=False), [q, k, v])
        return lambda: back(grad)

    case.others["fresh"]["torch, repeated heads"] = repeated
    return case


def paged(call: Call) -> Case:
    """Return the case of a step over whole pages, which the frameworks gather first."""
    b, hq, hk, d, dv, p, s, m = call.size("B", "Hq", "Hk", "D", "Dv", "P", "S", "M")
    listed, t = call.op == "paged_decode_attention", call.torch("T")
    each = m // b if listed else m
    table = torch.randperm(p)[: b * each].int().view(b, each)

    def eager(q: Any, k_cache: Any, v_cache: Any, table: Any, grouped: bool = True) -> Any:
        k, v = (x[table].view(b, each * s, hk, -1) for x in (k_cache, v_cache))
        return _together(q[:, None], k, v, False, grouped)[:, 0]

    def lax(q: Any, k_cache: Any, v_cache: Any, table: Any) -> Any:
        k, v = (x[table].reshape(b, each * s, hk, -1) for x in (k_cache, v_cache))
        return _jax.nn.dot_product_attention(q[:, None], k, v)[:, 0]

    def ours(q: Any, k_cache: Any, v_cache: Any, table: Any) -> Any:
        if listed:
            limits, last = [torch.arange(b + 1).int() * each, torch.full((b,), s).int()]
            return ops.paged_decode_attention(q, k_cache, v_cache, limits, table.view(-1), last)
        return ops.paged_attention(q, k_cache, v_cache, table, torch.full((b,), each * s).int())

    caches = [torch.randn(p, s, hk, width).to(t) for width in (d, dv)]
    arrays = [torch.randn(b, hq, d).to(t), *caches, table]
    case = Case(call.op, call.label, arrays, ours, eager, lax)
    repeated: Any = partial(eager, grouped=False)
    case.others["fresh"]["torch, repeated heads"] = lambda: lambda: repeated(*arrays)
    return case


def reshape_and_cache(call: Call) -> Case:
    """Return the case of rows that are put into a cache, which JAX is given for good."""
    n, h, d, p, s = call.size("N", "H", "D", "P", "S")
    t, c = call.torch("T"), call.torch("C")

    def eager(key: Any, value: Any, k_cache: Any, v_cache: Any, slots: Any) -> Any:
        for cache, rows in (k_cache, key), (v_cache, value):
            cache.view(p * s, h, d).index_copy_(0, slots, rows)
        return k_cache, v_cache

    def put(key: Any, value: Any, k_cache: Any, v_cache: Any, slots: Any) -> Any:
        pairs = (k_cache, key), (v_cache, value)
        return [
            x.reshape(p * s, h, d).at[slots].set(y, unique_indices=True).reshape(x.shape)
            for x, y in pairs
        ]

    def donated() -> Any:
        jitted = _jax.jit(put, donate_argnums=(2, 3))
        key, value, *caches, slots = [_jnp.array(_jax.dlpack.from_dlpack(x)) for x in arrays]

        def step() -> Any:
            caches[:] = _jax.block_until_ready(jitted(key, value, *caches, slots))
            return caches

        return step

    slots = torch.randperm(p * s)[:n]
    rows, caches = ([torch.randn(*shape) for _ in range(2)] for shape in ((n, h, d), (p, s, h, d)))
    arrays = [*(x.to(t) for x in rows), *(x.to(c) for x in caches), slots]
    case = Case(call.op, call.label, arrays, ops.reshape_and_cache, eager)
    case.others["fresh"]["jax.jit"] = donated
    return case


def mla_prefill(call: Call) -> Case:
    """Return the case of latent attention of one sequence, as two products around a softmax."""
    tq, tk, h, d, b = call.size("Tq", "Tk", "H", "D", "B")
    assert b == 1 and tq == tk, "peers here take one whole sequence"
    t, rank = call.torch("T"), call.values.get("kv_lora_rank", 512)
    scale, hidden = call.values["sm_scale"], torch.ones(tq, tk).triu(1).bool()
    limits = [torch.tensor([0, count], dtype=torch.int32) for count in (tq, tk)]

    def ours(q: Any, kv: Any) -> Any:
        return ops.mla_prefill(q, kv, *limits, sm_scale=scale, causal=True)

    def eager(q: Any, kv: Any) -> Any:
        scores = _torch.linear(q.view(tq * h, d), kv).float().mul_(scale).view(tq, h, tk)
        weights = scores.masked_fill_(hidden[:, None], -torch.inf).softmax(-1).to(t)
        return (weights.view(tq * h, tk) @ kv[:, :rank]).view(tq, h, rank)

    def lax(q: Any, kv: Any) -> Any:
        scores = _jnp.einsum("qhd,kd->qhk", q, kv).astype(_jnp.float32) * scale
        seen = _jnp.tril(_jnp.ones((tq, tk), bool))[:, None]
        weights = _jax.nn.softmax(_jnp.where(seen, scores, -_jnp.inf), -1).astype(q.dtype)
        return _jnp.einsum("qhk,kd->qhd", weights, kv[:, :rank])

    def fused(q: Any, kv: Any) -> Any:
        k = kv[None, None].expand(1, h, tk, d)
        attend = partial(_torch.scaled_dot_product_attention, is_causal=True, scale=scale)
        return attend(q.transpose(0, 1)[None], k, k)[0, ..., :rank].transpose(0, 1)

    arrays = [torch.randn(tq, h, d).to(t), torch.randn(tk, d).to(t)]
    case = Case(call.op, call.label, arrays, ours, eager, lax)
    case.others["fresh"]["torch, fused"] = lambda: lambda: fused(*arrays)
    return case


def flash_mla_sparse(call: Call) -> Case:
    """Return the case of a step over chosen rows of a packed cache, which are unpacked first."""
    b, s, h, blocks, each, count = call.size("B", "S", "H", "NB", "PS", "K")
    scale, places = 512**-0.5, 584

    def eager(q: Any, packed: Any, indices: Any) -> Any:
        rows = packed.view(-1, places)[indices]
        plain = rows[..., :448].view(torch.float8_e4m3fnuz).float().unflatten(-1, (7, 64))
        steps = (rows[..., 576:583].int() << 23).view(torch.float32)
        wide = (plain * steps[..., None]).to(q.dtype).flatten(-2)
        kv = torch.cat([wide, rows[..., 448:576].contiguous().view(torch.bfloat16)], -1)[:, 0]
        scores = torch.bmm(q[:, 0], kv.mT).float() * scale
        lse = torch.logsumexp(scores, -1, keepdim=True)
        return torch.bmm((scores - lse).exp().to(q.dtype), kv)[:, None], lse[..., 0][:, None]

    def lax(q: Any, packed: Any, indices: Any) -> Any:
        cast = _jax.lax.bitcast_convert_type
        rows = packed.reshape(-1, places)[indices[:, 0]]
        plain = cast(rows[..., :448], _jnp.float8_e4m3fnuz).astype(_jnp.float32)
        steps = cast(rows[..., 576:583].astype(_jnp.int32) << 23, _jnp.float32)
        wide = plain.reshape(b, count, 7, 64) * steps[..., None]
        rotary = cast(rows[..., 448:576].reshape(b, count, 64, 2), _jnp.bfloat16)
        parts = [wide.reshape(b, count, 448).astype(q.dtype), rotary]
        kv = _jnp.concatenate(parts, -1)
        scores = _jnp.einsum("bhd,bkd->bhk", q[:, 0], kv).astype(_jnp.float32) * scale
        lse = _jax.nn.logsumexp(scores, -1, keepdims=True)
        weights = _jnp.exp(scores - lse).astype(q.dtype)
        return _jnp.einsum("bhk,bkd->bhd", weights, kv)[:, None], lse[..., 0][:, None]

    assert s == 1, "peers here take one query of each sequence"
    plain = torch.randn(blocks * each, 448).to(torch.float8_e4m3fnuz).view(torch.uint8)
    rotary = torch.randn(blocks * each, 64).bfloat16().view(torch.uint8)
    steps = torch.full((blocks * each, 8), 127, dtype=torch.uint8)
    packed = torch.cat([plain, rotary, steps], 1).view(blocks, each, places)
    indices = torch.stack([torch.randperm(blocks * each)[:count] for _ in range(b)]).int()
    arrays = [torch.randn(b, s, h, 512).bfloat16(), packed, indices[:, None]]
    return Case(call.op, call.label, arrays, getattr(ops, call.op), eager, lax)


def merge_state(call: Call) -> Case:
    """Return the case of two parts."""
    (n, h, d), t = call.size("N", "H", "D"), call.torch("T")

    def eager(v_a: Any, s_a: Any, v_b: Any, s_b: Any) -> Any:
        share = torch.sigmoid(s_a - s_b)[..., None]
        v = torch.lerp(v_b.float(), v_a.float(), share).to(t)
        return v, torch.logaddexp(s_a, s_b)

    def lax(v_a: Any, s_a: Any, v_b: Any, s_b: Any) -> Any:
        share = _jax.nn.sigmoid(s_a - s_b)[..., None]
        v = v_a.astype(_jnp.float32) * share + v_b.astype(_jnp.float32) * (1 - share)
        return v.astype(v_a.dtype), _jnp.logaddexp(s_a, s_b)

    arrays = [x for _ in range(2) for x in (torch.randn(n, h, d).to(t), torch.randn(n, h))]
    return Case(call.op, call.label, arrays, ops.merge_state, eager, lax)


def merge_states(call: Call) -> Case:
    """Return the case of several parts."""
    (n, s, h, d), t = call.size("N", "S", "H", "D"), call.torch("T")

    def eager(v: Any, lse: Any) -> Any:
        total = torch.logsumexp(lse, 1)
        weights = (lse - total[:, None]).exp()
        return torch.einsum("nsh,nshd->nhd", weights.to(t), v), total

    def lax(v: Any, lse: Any) -> Any:
        total = _jax.nn.logsumexp(lse, 1)
        weights = _jnp.exp(lse - total[:, None])
        return (weights[..., None] * v.astype(_jnp.float32)).sum(1).astype(v.dtype), total

    arrays = [torch.randn(n, s, h, d).to(t), torch.randn(n, s, h)]
    return Case(call.op, call.label, arrays, ops.merge_states, eager, lax)
