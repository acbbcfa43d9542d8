"""vLLM's kernels for the CPU, out of its wheel: its package needs more than we want to install."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

_registry: Any = torch.ops
_BLOCK = 16
_ISA = "vec16"  # for blocks of this many slots


def _load() -> Any:
    """Load the library for this machine's instruction set, and return its ops."""
    wide = "avx512f" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    folder = Path(__file__).parents[2] / "build" / "bench" / "peers" / "vllm"
    _registry.load_library(str(folder / f"_C_{'AVX512' if wide else 'AVX2'}.abi3.so"))
    return _registry._C


_ops: Any = _load()


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """Return normalised rows."""
    y = torch.empty_like(x)
    _ops.rms_norm(y, x, weight, eps)
    return y


def fused_add_rms_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Overwrite both."""
    _ops.fused_add_rms_norm(x, residual, weight, eps)
    return x, residual


def silu_and_mul(x: torch.Tensor) -> torch.Tensor:
    """Return gated values."""
    y = x.new_empty((*x.shape[:-1], x.shape[-1] // 2))
    _ops.silu_and_mul(y, x)
    return y


def paged(*arrays: torch.Tensor) -> torch.Tensor:
    """Return the attention of one query of each sequence over a paged cache."""
    return _paged(*arrays)()


def prefill(*arrays: torch.Tensor) -> torch.Tensor:
    """Return the causal attention of one sequence, whose keys and values are in the cache already."""
    return _prefill(*arrays)()


@lru_cache(1)
def _paged(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, table: torch.Tensor, counts: torch.Tensor
) -> Callable[[], torch.Tensor]:
    return _attention([q, k, v], torch.arange(len(q) + 1, dtype=torch.int32), counts, table)


@lru_cache(1)
def _prefill(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Callable[[], torch.Tensor]:
    caches = [x.view(-1, _BLOCK, *x.shape[1:]) for x in (k, v)]
    limits, counts = torch.tensor([0, len(q)]).int(), torch.tensor([len(k)]).int()
    return _attention([q, *caches], limits, counts, torch.arange(len(k) // _BLOCK).int()[None])


def _attention(
    arrays: list[torch.Tensor], limits: torch.Tensor, counts: torch.Tensor, table: torch.Tensor
) -> Callable[[], torch.Tensor]:
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
    rest: Any = limits, counts, d**-0.5, True, None, -1, table, 0.0, plan, None, None

    def call() -> torch.Tensor:
        out = torch.empty_like(q)
        _ops.cpu_attention_with_kv_cache(q, *caches, out, *rest)
        return out

    return call


@lru_cache(1)
def _packed(*plain: torch.Tensor) -> list[torch.Tensor]:
    """Return matrices in vLLM's order, which it makes when a model is loaded."""
    packed = [torch.empty_like(w) for w in plain]
    for w, to in zip(plain, packed):
        _ops.prepack_moe_weight(w, to, "vec")
    return packed


def experts(
    x: torch.Tensor,
    w1: torch.Tensor,
    w2: torch.Tensor,
    weights: torch.Tensor,
    ids: torch.Tensor,
) -> torch.Tensor:
    """Return the sums of gated experts."""
    out = torch.empty_like(x)
    packed = _packed(w1, w2)
    _ops.cpu_fused_moe(out, x, *packed, None, None, weights, ids, False, "silu", "vec")
    return out
