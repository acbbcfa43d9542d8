"""Cases of products: gemm, its gradients, convolutions, decoding with latent attention."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import torch
from kernel_case import Case, like
from kernel_gradients import tape, transposed
from kernel_rows import ops
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_torch: Any = functional
_jax: Any = jax
_jnp: Any = jnp

# M, N, K: squares, then the decoding workload of gemm's definition with fewer rows.
_SIZES = [(n, n, n) for n in (512, 1024, 2048)] + [(m, 6144, 4096) for m in (1, 4, 16)]
_FEW_SIZES = [_SIZES[1], _SIZES[3]]
_SQUARES = [(512,), (1024,)]

# B, C, H = W, O, R = S: layers of ResNet-50 with one and with many images.
_CONVOLUTIONS = [
    (1, 64, 56, 64, 3),
    (4, 256, 14, 256, 3),
    (1, 256, 56, 64, 1),
    (4, 1024, 14, 256, 1),
]

# B, H, rows of the cache per sequence.
_DECODED = [(1, 16, 1024), (8, 16, 1024), (1, 128, 2048)]


def cases(dtype: torch.dtype, prefix: str, *, few: bool) -> Iterator[Case]:
    """Yield the cases of products of a dtype whose op begins with a prefix, or a few of them."""
    groups: list[tuple[str, Callable[..., Case], list[Any]]] = [
        ("gemm", partial(_gemm, dtype), _FEW_SIZES if few else _SIZES),
        ("gemm_backward", partial(_gemm_backward, dtype), _SQUARES[:1] if few else _SQUARES),
        ("conv2d", partial(_conv2d, dtype), _CONVOLUTIONS[::2] if few else _CONVOLUTIONS),
    ]
    if dtype == torch.bfloat16:
        groups.append(("flash_mla_decode", _decode, _DECODED[:1] if few else _DECODED))
    for op, make, sizes in groups:
        if op.startswith(prefix):
            yield from (make(*one) for one in sizes)


def _times(a: Any, b: Any) -> Any:
    product = _jax.lax.dot_general(a, b, (((1,), (1,)), ((), ())))
    return product.astype(a.dtype)


def _gemm(dtype: torch.dtype, m: int, n: int, k: int) -> Case:
    def given(c: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.mm(a, b.t(), out=c)

    a, b = torch.randn(m, k).to(dtype), torch.randn(n, k).to(dtype)
    out, shape = like(a.new_empty(m, n)), f"{m}x{n}x{k}"
    arrays, flops = [a, b], 2 * m * n * k
    # The compiler calls the same library as eager code.
    return Case("gemm", shape, arrays, ops.gemm, _torch.linear, _times, out, given, flops=flops)


def _gemm_backward(dtype: torch.dtype, n: int) -> Case:
    def ours(grad: torch.Tensor, a: torch.Tensor, b: torch.Tensor, out: Any = None) -> Any:
        return ops.gemm_backward(grad, a, b, out=out and (*out, None))

    grad, a, b = (torch.randn(n, n).to(dtype) for _ in range(3))
    eager, lax, out = tape(_torch.linear, [a, b]), transposed(_times), like(a, b)
    arrays, shape, flops = [grad, a, b], f"{n}x{n}x{n}", 4 * n**3
    return Case("gemm_backward", shape, arrays, ours, eager, lax, out, flops=flops)


def _conv2d(dtype: torch.dtype, b: int, c: int, h: int, o: int, r: int) -> Case:
    def lax(x: Any, w: Any) -> Any:
        pad = [(r // 2, r // 2)] * 2
        return _jax.lax.conv_general_dilated(x, w, (1, 1), pad)

    x, w = torch.randn(b, c, h, h).to(dtype), torch.randn(o, c, r, r).to(dtype)
    call = partial(ops.conv2d, padding=r // 2)
    eager = partial(_torch.conv2d, padding=r // 2)
    out, shape = like(x.new_empty(b, o, h, h)), f"{b}x{c}x{h}x{h} to {o}"
    flops, op = 2 * b * o * h * h * c * r * r, f"conv2d, {r}x{r}"
    return Case(op, shape, [x, w], call, eager, lax, out, flops=flops)


def _decode(b: int, h: int, length: int) -> Case:
    """Return the case of sequences of one length, so that others need not treat them one by one."""
    total, scale = b * length, 512**-0.5
    q = torch.randn(b, h, 512).bfloat16()
    nope = torch.randn(total, 448).to(torch.float8_e4m3fn)
    rope, tiles = torch.randn(total, 64).bfloat16(), torch.rand(total, 7)
    limits = torch.arange(b + 1, dtype=torch.int32) * length

    def eager(q: Any, nope: Any, rope: Any, tiles: Any, _: Any) -> Any:
        plain = (nope.float().view(total, 7, 64) * tiles[:, :, None]).bfloat16()
        kv = torch.cat([plain.view(total, 448), rope], 1).view(b, length, 512)
        scores = torch.bmm(q, kv.mT).float() * scale
        lse = torch.logsumexp(scores, -1, keepdim=True)
        return torch.bmm((scores - lse).exp().bfloat16(), kv), lse[..., 0]

    def lax(q: Any, nope: Any, rope: Any, tiles: Any, _: Any) -> Any:
        plain = nope.astype(_jnp.float32).reshape(total, 7, 64) * tiles[:, :, None]
        plain = plain.astype(_jnp.bfloat16).reshape(total, 448)
        kv = _jnp.concatenate([plain, rope], 1).reshape(b, length, 512)
        scores = _jnp.einsum("bhd,btd->bht", q, kv).astype(_jnp.float32) * scale
        lse = _jax.nn.logsumexp(scores, -1, keepdims=True)
        weights = _jnp.exp(scores - lse).astype(_jnp.bfloat16)
        return _jnp.einsum("bht,btd->bhd", weights, kv), lse[..., 0]

    arrays, call = [q, nope, rope, tiles, limits], ops.flash_mla_decode
    out, shape = [torch.empty_like(q), torch.empty(b, h)], f"{b}x{length}, {h} heads"
    flops = 4 * b * h * length * 512
    op = "flash_mla_decode"
    return Case(op, shape, arrays, call, eager, lax, out, formula=eager, flops=flops)
