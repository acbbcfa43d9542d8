"""Hold attention over chosen tokens of a packed cache against what it must have whatever the numbers are.

Any number of splits gives the unsplit result, also where splits are empty or all tokens are masked. Neither the order of
the indices nor masked ones among them change it, and a token named twice counts twice. Prints how many results were
compared.
"""

from typing import Any

import ml_dtypes
import numpy as np
import opcast_numpy as ops

SPLITS = (0, 1, 2, 3, 7, 64)
TOKEN = 584
BATCH, STEPS, HEADS = 3, 2, 5
rng = np.random.default_rng(17)
compared = 0


def cache(pages: int, slots: int) -> Any:
    """Return pages of tokens: codes, rotary columns and scales that are finite, for both formats."""
    packed = rng.integers(0, 256, (pages * slots, TOKEN), dtype=np.uint8)
    codes = packed[:, :448]
    codes[(codes % 128 == 127) | (codes == 128)] = 40
    packed[:, 448:576] = (
        rng.standard_normal((len(packed), 64)).astype(ml_dtypes.bfloat16).view(np.uint8)
    )
    packed[:, 576:583] = rng.integers(114, 122, (len(packed), 7))
    return packed.reshape(pages, slots, TOKEN)


def near(name: str, got: Any, want: Any) -> None:
    """Compare attention and log-sum-exps: two roundings of one number, and two sums of floats."""
    for i, results in enumerate(zip(got, want, strict=True)):
        a, b = (np.asarray(result, np.float64) for result in results)
        assert np.array_equal(np.isneginf(a), np.isneginf(b)), (name, i)
        assert not np.isnan(a).any() and not np.isnan(b).any(), (name, i)
        there = np.isfinite(b)
        off, size = np.abs(a[there] - b[there]), np.abs(b[there])
        bound = 2.0**-7 * size + 1e-4 if i == 0 else 1e-5 * np.maximum(1, size)
        assert np.all(off <= bound), (name, i, float(np.max(off)))


for fp8 in ("e4m3fnuz", "e4m3fn"):
    for most in (0, 1, 5, 64, 65, 700):
        pages = cache(9, 16)
        tokens = 9 * 16
        q = rng.standard_normal((BATCH, STEPS, HEADS, 512)).astype(ml_dtypes.bfloat16)
        indices = rng.integers(-40, tokens + 20, (BATCH, STEPS, most)).astype(np.int32)
        indices[1, 0] = -1
        lengths = np.array([most, most // 2, 0], np.int32)
        for length in (None, lengths):
            whole = ops.flash_mla_sparse_decode(q, pages, indices, length, fp8=fp8)
            for splits in SPLITS:
                parts = ops.flash_mla_sparse_decode_splitk(
                    q, pages, indices, length, num_splits=splits, fp8=fp8
                )
                near(f"{splits} splits of {most}", parts, whole)
            empty = np.isneginf(whole[1])
            assert empty[1, 0].all() and (length is None or empty[2].all())
            assert not whole[0].astype(np.float32)[empty].any()
            compared += 1 + len(SPLITS)
        whole = ops.flash_mla_sparse_decode(q, pages, indices, fp8=fp8)
        shuffled = rng.permuted(indices, axis=-1)
        near("order", ops.flash_mla_sparse_decode(q, pages, shuffled, fp8=fp8), whole)
        padded = np.concatenate([np.full_like(indices, -1), indices, indices + 2 * tokens], axis=-1)
        near(
            "masked",
            ops.flash_mla_sparse_decode(
                q, pages, np.where(padded >= 2 * tokens, tokens, padded), fp8=fp8
            ),
            whole,
        )
        twice = ops.flash_mla_sparse_decode(
            q, pages, np.concatenate([indices, indices], axis=-1), fp8=fp8
        )
        near("twice", (twice[0], twice[1] - np.float32(np.log(2))), whole)
        compared += 3
print(compared)
