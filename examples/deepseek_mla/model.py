"""The model, written once: `ops` is any adaptor module, and every array is of its framework.

`xp` is the framework itself, which joins columns; whatever computes is an op of the collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sizes import EXPERTS, GROUPS, HEADS, LATENT, PLAIN, TOPK, TOPK_GROUPS, WIDTH

# The scale of heads before the projections of the keys became part of the queries.
SCALE = (PLAIN + WIDTH - LATENT) ** -0.5

Weights = Mapping[str, Any]


def queries_and_keys(ops: Any, xp: Any, x: Any, w: Weights) -> tuple[Any, Any]:
    """Return the queries of each head, and the keys of all heads, which are the values too."""
    x = ops.rms_norm(x, w["norm"])
    q = ops.gemm(ops.rms_norm(ops.gemm(x, w["q_a"]), w["q_norm"]), w["q_b"])
    q = q.reshape(len(x), HEADS, -1)
    kv = ops.gemm(x, w["kv_a"])
    latent = ops.rms_norm(kv[:, :LATENT], w["kv_norm"])
    rotary = (q[..., PLAIN:], kv[:, None, LATENT:])
    q_rope, k_rope = ops.rope(*rotary, w["positions"], w["angles"], interleave=True)
    q = xp.concatenate([by_head(ops, q[..., :PLAIN], w["k_b"], w), q_rope], axis=-1)
    return q, xp.concatenate([latent, k_rope[:, 0]], axis=-1)


def by_head(ops: Any, x: Any, matrices: Any, w: Weights) -> Any:
    """Multiply the columns of each head by its own matrix: heads are experts that all tokens have."""
    rows = x.swapaxes(0, 1).reshape(-1, x.shape[-1])
    made = ops.grouped_gemm(rows, matrices, w["rows_by_head"])
    return made.reshape(HEADS, len(x), -1).swapaxes(0, 1)


def prefill(ops: Any, q: Any, kv: Any, ends: Any) -> tuple[Any, Any]:
    """Let each token see those of its sequence up to itself."""
    scale = {"sm_scale": SCALE, "kv_lora_rank": WIDTH}
    return ops.mla_prefill(q, kv, ends, ends, causal=True, **scale)


def decode(ops: Any, q: Any, cache: Any, tokens: Any, splits: int | None = None) -> tuple[Any, Any]:
    """Let each position see some tokens of a cache, at once or in splits that are merged."""
    if splits is None:
        return ops.flash_mla_sparse_decode(q, cache, tokens, sm_scale=SCALE, fp8="e4m3fn")
    some = {"sm_scale": SCALE, "fp8": "e4m3fn", "num_splits": splits}
    return ops.flash_mla_sparse_decode_splitk(q, cache, tokens, **some)


def attended(ops: Any, x: Any, o: Any, w: Weights) -> Any:
    """Add to x what the heads found."""
    values = by_head(ops, o, w["v_b"], w).reshape(len(x), -1)
    return ops.eltwise_add(x, ops.gemm(values, w["o"]))


def route(ops: Any, x: Any, w: Weights) -> tuple[Any, Any]:
    """Return the weights and the numbers of each token's experts."""
    logits = ops.gemm(x, w["router"], out_dtype="float32")
    sizes = {"k": TOPK, "num_groups": GROUPS, "topk_groups": TOPK_GROUPS}
    return ops.grouped_topk(logits, w["router_bias"], routed_scaling_factor=2.5, **sizes)


def experts(ops: Any, x: Any, weights: Any, ids: Any, w: Weights) -> Any:
    """Return what each token's experts make of it, step by step: `ops.fused_moe` is all of them."""
    rows, places, ends = ops.moe_permute(x, ids, num_experts=EXPERTS)
    made = ops.silu_and_mul(ops.grouped_gemm(rows, w["up"], ends))
    made = ops.grouped_gemm(made, w["down"], ends)
    return ops.moe_unpermute(made, places, weights)


def shared(ops: Any, x: Any, w: Weights) -> Any:
    """Return what the expert makes of them that all tokens have."""
    return ops.gemm(ops.silu_and_mul(ops.gemm(x, w["shared_up"])), w["shared_down"])
