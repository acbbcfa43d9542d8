"""Hold the ops of a mixture of experts against each other: what one groups, another one takes apart.

Prints how many comparisons were made.
"""

from typing import Any

import numpy as np
import opcast_numpy as ops
from numpy.typing import NDArray

rng = np.random.default_rng(5)
compared: list[np.ndarray] = []


def same(got: Any, want: Any, bound: float = 0) -> None:
    """Compare, exactly unless there is a bound."""
    compared.append(got)
    np.testing.assert_allclose(got, want, rtol=bound, atol=bound)


for n, experts, k, width, half in [
    (1, 1, 1, 1, 1),
    (9, 4, 2, 7, 5),
    (70, 16, 4, 33, 24),
    (3, 64, 8, 16, 8),
]:
    logits = rng.standard_normal((n, experts)).astype("f4")
    weights, ids = ops.topk_softmax(logits, k=k, renormalize=True)
    same(np.sum(weights, axis=1), np.ones(n), 1e-6)
    # One group, and no bias: the order of the softmax.
    routed = ops.grouped_topk(logits, k=k, num_groups=1, topk_groups=1, scoring="softmax")
    same(routed[1], ids)
    same(routed[0], weights, 1e-6)

    ids[rng.random(ids.shape) < 0.2] = -1
    known = ids >= 0
    x: NDArray[np.float32] = rng.standard_normal((n, width)).astype(np.float32)
    rows, places, offsets = ops.moe_permute(x, ids, num_experts=experts)
    same(np.sort(places[known]), np.arange(known.sum()))
    same(rows[places[known]], np.take(x, np.nonzero(known)[0], axis=0))
    same(
        ops.moe_unpermute(rows, places, np.ones_like(weights)),
        x * np.sum(known, axis=1, keepdims=True),
        1e-6,
    )

    items, blocks, end = ops.moe_align_block_size(ids, num_experts=experts, block_size=1)
    same(items[: end[0]], np.argsort(places.ravel(), kind="stable")[(~known).sum() :])
    same(blocks[: end[0]], np.repeat(np.arange(experts), np.diff(offsets)))

    w1 = rng.standard_normal((experts, 2 * half, width)).astype("f4")
    w2 = rng.standard_normal((experts, width, half)).astype("f4")
    made = ops.grouped_gemm(ops.silu_and_mul(ops.grouped_gemm(rows, w1, offsets)), w2, offsets)
    y = ops.moe_unpermute(made, places, weights)
    fused = ops.fused_moe(x, w1, w2, weights, ids)
    same(fused, y, 1e-4)
    # Tokens do not depend on each other.
    same(ops.fused_moe(x[-1:], w1, w2, weights[-1:], ids[-1:]), fused[-1:])

print(len(compared))
