"""Compare large products of matrices of the emulated collection with those for the CPU.

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
        exact: Any = want.astype(np.float64)
        fraction = {"float16": 10, "bfloat16": 7}[got.dtype.name]
        spacing: Any = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(exact), 2.0**-2))) - fraction)
        worst = float(np.max(np.abs(got.astype(np.float64) - exact) / spacing))
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


print(
    compare(ml_dtypes.bfloat16, (2, 310), 41, 25, "relu")
    + compare(np.float16, (3, 5), 17, 600, "none")
    + compare(np.float16, (513,), 8200, 8, "none")
)
