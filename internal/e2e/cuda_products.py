"""Compare kernels that use tensor cores with those for the CPU, on large matrices and long caches.

The suite's arrays are small. Here sums have several passes of 512 terms, which blocks of their own compute if there
are few tiles, and rows do not begin at multiples of 16 bytes. The gradient of a few rows of b has the bits that it has
among many rows, where each block computes all passes. Prints how many arrays were compared.
"""

import importlib
from typing import Any

import ml_dtypes
import numpy as np
import opcast_numpy as ours

emulated: Any = importlib.import_module("emulated_numpy")
rng = np.random.default_rng(5)


def normal(like: Any, *shape: int) -> Any:
    """Return random numbers in the middle of the columns of a larger array."""
    wide: Any = rng.standard_normal((*shape[:-1], shape[-1] + 3)).astype(like)
    return wide[..., 1:-2]


def check(name: str, arrays: list[Any], **attrs: Any) -> list[Any]:
    """Call an op of both collections, and return the results."""
    results: list[list[Any]] = []
    for collection in (emulated, ours):
        result: Any = getattr(collection, name)(*arrays, **attrs)
        results.append([result] if hasattr(result, "dtype") else [r for r in result])
    for i, (got, want) in enumerate(zip(*results, strict=True)):
        # The log-sum-exp is -inf for no rows, and small beside the products that it comes from.
        exact: Any = want.astype(np.float64)
        exact[np.isinf(want) & (got == want)] = 0
        fraction = {"float32": 19, "float16": 10, "bfloat16": 7}[got.dtype.name]
        spacing: Any = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(exact), 2.0**-2))) - fraction)
        off: Any = got.astype(np.float64) - exact
        off[got == want] = 0
        worst = float((abs(off) / spacing).max())
        assert worst <= 1, (name, i, got.shape, got.dtype, worst)
    return results[0]


def compare(like: Any, lead: tuple[int, ...], n: int, k: int, activation: str) -> int:
    """Call gemm and its gradients."""
    a, b, bias = normal(like, *lead, k), normal(like, n, k), normal(like, n).copy()
    grad: Any = normal(like, *lead, n).copy()
    product = check("gemm", [a, b, bias], activation=activation)
    gradients = check("gemm_backward", [grad, a, b, bias], activation=activation)
    few = slice(n // 2, n // 2 + 9)
    parts: Any = emulated.gemm_backward(
        grad[..., few].copy(), a, b[few], bias[few], activation=activation
    )
    assert parts[1].tobytes() == gradients[1][few].tobytes(), (lead, n, k, like)
    return len(product) + len(gradients)


def attend(heads: int, lengths: list[int], spread: float) -> int:
    """Call flash_mla_decode, also with some of the heads, which have the same bits."""
    rows = sum(lengths)
    scales: Any = np.exp(rng.standard_normal((rows, 7))).astype(np.float32)
    cache = [
        normal(ml_dtypes.float8_e4m3fn, rows, 448).copy(),
        normal(ml_dtypes.bfloat16, rows, 64).copy(),
        scales,
        np.cumsum([0, *lengths]).astype(np.int32),
    ]
    q = normal(ml_dtypes.bfloat16, len(lengths), heads, 512).copy()
    q = (q * ml_dtypes.bfloat16(spread)).astype(q.dtype)
    results = check("flash_mla_decode", [q, *cache])
    few = slice(heads // 2, heads)
    for part, whole in zip(
        emulated.flash_mla_decode(q[:, few].copy(), *cache), results, strict=True
    ):
        assert part.tobytes() == whole[:, few].tobytes(), (heads, lengths)
    return len(results)


print(
    attend(21, [200, 0, 33, 1], 1)
    + attend(40, [700], 20)
    + compare(ml_dtypes.bfloat16, (2, 310), 41, 25, "relu")
    + compare(np.float16, (3, 5), 17, 600, "none")
    + compare(np.float16, (513,), 8200, 8, "none")
)
