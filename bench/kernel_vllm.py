"""vLLM's kernels for the CPU, out of its wheel: its package needs more than we want to install."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel_case import Case

NAME = "vllm"
_FOLDER = Path(__file__).parents[1] / "build" / "bench" / "peers" / "vllm"
_registry: Any = torch.ops
_ops: Any = _registry._C
_BLOCK = 16
_ISA = "vec16"  # for blocks of this many slots


def load() -> None:
    """Load the library for this machine's instruction set."""
    wide = "avx512f" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    _registry.load_library(str(_FOLDER / f"_C_{'AVX512' if wide else 'AVX2'}.abi3.so"))


def add(case: Case) -> None:
    """Add vLLM to the peers of a case, if it has the op."""
    if case.op == "fused_add_rms_norm":
        case.others["in place"][NAME] = lambda: _fused(case.arrays)
    elif case.op == "flash_mla_decode":
        case.others["fresh"][NAME] = lambda: _decode(case.arrays)
    elif case.op in _STEPS:
        step = _STEPS[case.op]
        case.others["fresh"][NAME] = lambda: step(case.arrays)
    elif case.op in _WRITES:
        write, (y,) = _WRITES[case.op], case.out
        case.others["out"][NAME] = lambda: lambda: write(y, *case.arrays)
        case.others["fresh"][NAME] = lambda: lambda: _fresh(write, y, case.arrays)


def _fresh(write: Callable[..., Any], like: torch.Tensor, arrays: list[torch.Tensor]) -> Any:
    y = torch.empty_like(like)
    write(y, *arrays)
    return y


def _gate(y: torch.Tensor, x: torch.Tensor) -> None:
    _ops.silu_and_mul(y, x)


def _gelu(y: torch.Tensor, x: torch.Tensor) -> None:
    _ops.gelu_new(y, x)


def _rms(y: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> None:
    _ops.rms_norm(y, x, w, 1e-6)


_WRITES: dict[str, Callable[..., Any]] = {
    "rms_norm": _rms,
    "silu_and_mul": _gate,
    "gelu, tanh": _gelu,
}


def _fused(arrays: list[torch.Tensor]) -> Callable[[], Any]:
    x, residual, w = (a.clone() for a in arrays)
    return lambda: _ops.fused_add_rms_norm(x, residual, w, 1e-6)


def _decode(arrays: list[torch.Tensor]) -> Callable[[], Any]:
    """Return a call on a cache of bfloat16 with 576 columns, the only width that vLLM has.

    The 64 additional columns are zero in the queries and no part of the result: an eighth more
    work for the scores, on a cache of twice the bytes, which nobody has to scale.
    """
    q, nope, rope, tiles, limits = arrays
    total, b = nope.shape[0], q.shape[0]
    plain = (nope.float().view(total, 7, 64) * tiles[:, :, None]).bfloat16()
    cache = torch.cat([plain.view(total, 448), rope, rope], 1).view(total // _BLOCK, _BLOCK, 576)
    query = torch.cat([q, torch.zeros_like(q[..., :64])], -1)
    tables = torch.arange(total // _BLOCK, dtype=torch.int32).view(b, -1)
    lengths = limits[1:] - limits[:-1]
    scale = 512**-0.5

    def call() -> torch.Tensor:
        out = torch.empty_like(q)
        _ops.mla_decode_kvcache(out, query, cache, scale, tables, lengths)
        return out

    return call


def _attention(
    arrays: list[torch.Tensor], limits: torch.Tensor, counts: torch.Tensor, table: torch.Tensor
) -> Callable[[], Any]:
    """Return a causal call over a cache in vLLM's own order, in which its server keeps keys and values."""
    q, *plain = arrays
    pages, size, hk, _ = plain[0].shape
    caches = [torch.empty(pages, hk, size, x.shape[3], dtype=x.dtype) for x in plain]
    rows = [x.flatten(0, 1) for x in plain]
    _ops.cpu_attn_reshape_and_cache(*rows, *caches, torch.arange(pages * size), _ISA)
    hq, d = q.shape[1:]
    plan = _ops.get_scheduler_metadata(
        len(counts), hq, hk, d, counts, q.dtype, limits, True, -1, _ISA, True, None
    )

    def call() -> torch.Tensor:
        out = torch.empty_like(q)
        _ops.cpu_attention_with_kv_cache(
            q,
            *caches,
            out,
            limits,
            counts,
            d**-0.5,
            True,
            None,
            -1,
            table,
            0.0,
            plan,
            None,
            None,
        )
        return out

    return call


def _paged(arrays: list[torch.Tensor]) -> Callable[[], Any]:
    q, k_cache, v_cache, table = arrays
    b, each = table.shape
    counts = torch.full((b,), each * k_cache.shape[1], dtype=torch.int32)
    return _attention([q, k_cache, v_cache], torch.arange(b + 1, dtype=torch.int32), counts, table)


def _prefill(arrays: list[torch.Tensor]) -> Callable[[], Any]:
    """Return a call over one sequence, whose keys and values are in the cache already."""
    q, k, v = arrays
    caches = [x.view(-1, _BLOCK, *x.shape[1:]) for x in (k, v)]
    limits, counts = torch.tensor([0, len(q)]).int(), torch.tensor([len(k)]).int()
    return _attention([q, *caches], limits, counts, torch.arange(len(k) // _BLOCK).int()[None])


def _experts(arrays: list[torch.Tensor]) -> Callable[[], Any]:
    """Return a call with matrices in vLLM's order, which it makes when a model is loaded."""
    x, *plain, weights, ids = arrays
    packed = [torch.empty_like(w) for w in plain]
    for w, to in zip(plain, packed):
        _ops.prepack_moe_weight(w, to, "vec")

    def call() -> torch.Tensor:
        out = torch.empty_like(x)
        _ops.cpu_fused_moe(out, x, *packed, None, None, weights, ids, False, "silu", "vec")
        return out

    return call


_STEPS: dict[str, Callable[[list[torch.Tensor]], Callable[[], Any]]] = {
    "flash_attn_varlen": _prefill,
    "fused_moe": _experts,
    "paged_attention": _paged,
}
