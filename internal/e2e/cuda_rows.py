"""Compare kernels of the emulated collection with those for the CPU, on long rows and many rows.

The suite's arrays are small. Here rows do not fit into a block's registers, blocks take several rows, and groups of
rows have several tiles. Prints how many arrays were compared.
"""

import importlib
from typing import Any

import ml_dtypes
import numpy as np
import opcast_numpy as ours

emulated: Any = importlib.import_module("emulated_numpy")
SHAPES = [(3, 4100), (2, 8200), (2, 17001), (2, 33000), (700, 40), (600, 1100), (1, 1)]
rng = np.random.default_rng(5)


def normal(*shape: int, like: Any = np.float32, scale: float = 1) -> Any:
    """Return random numbers of a dtype."""
    return (rng.standard_normal(shape) * scale).astype(like)


def distance(got: Any, want: Any, slack: float) -> float:
    """Return the largest difference beyond the slack, in spacings of the dtype."""
    mantissa: int = {"float32": 23, "float16": 10, "bfloat16": 7, "float8_e4m3fn": 3}[
        got.dtype.name
    ]
    difference: Any = np.abs(got.astype(np.float64) - want.astype(np.float64))
    size: Any = np.maximum(np.abs(want.astype(np.float64)), 2.0**-14)
    return float(
        np.max(np.maximum(difference - slack, 0) / 2.0 ** (np.floor(np.log2(size)) - mantissa))
    )


def check(name: str, arrays: list[Any], sums: tuple[int, ...] = (), **attrs: Any) -> int:
    """Call an op of both collections. The results in `sums` are sums over rows, which round on the way."""
    results: list[tuple[Any, ...]] = []
    for collection in (emulated, ours):
        result: Any = getattr(collection, name)(*[a.copy() for a in arrays], **attrs)
        results.append((result,) if hasattr(result, "dtype") else result)
    for i, (g, w) in enumerate(zip(*results, strict=True)):
        worst = distance(g, w, 1e-6 * len(arrays[0]) if i in sums else 0)
        allowed = 8 if g.dtype == np.float32 else 1  # of float32, each may be off by 4
        assert worst <= allowed, (name, i, g.shape, g.dtype, worst)
    return len(results[0])


def compare(shape: tuple[int, int], like: Any) -> int:
    """Call the ops that work on rows."""
    rows, n = shape
    x, grad = normal(rows, n, like=like), normal(rows, n, like=like)
    weight, bias = normal(n, like=like), normal(n, like=like)
    mean, rstd = normal(rows), np.abs(normal(rows))
    wide = normal(rows, 2 * n, like=like, scale=4)
    return (
        check("eltwise_add", [x, grad])
        + check("softmax", [x])
        + check("softmax_backward", [grad, np.abs(x)])
        + check("cross_entropy", [x, rng.integers(0, n, rows)])
        + check("per_token_quant", [x], out_dtype=ml_dtypes.float8_e4m3fn)
        + check("rms_norm", [x, weight])
        + check("rms_norm_backward", [grad, x, weight], sums=(1,))
        + check("fused_add_rms_norm", [x, grad, weight])
        + check("layernorm2d", [x + like(8), weight, bias])
        + check("layernorm2d_backward", [grad, x, weight, mean, rstd], sums=(1, 2))
        + check("silu_and_mul", [wide])
        + check("silu_and_mul_backward", [grad, wide])
        + check("swigluoai_and_mul", [wide])
        + check("swigluoai_and_mul_backward", [grad, wide])
        + check("gelu", [wide], approximate="tanh")
        + check("gelu_backward", [wide, wide], approximate="none")
    )


def ties() -> int:
    """Quantise what lies half-way between two numbers of 8 bits: it goes to the even one, whatever the scale."""
    halves = (1 + np.arange(1, 16, 2) / 16).astype(np.float32)
    scales = [np.array([scale], np.float32) for scale in (3, 7, 13, 41 * 2.0**-70, 41 * 2.0**70)]
    for scale in scales:
        got, want = (
            collection.per_tensor_quant(halves * scale, scale, out_dtype=ml_dtypes.float8_e4m3fn)
            for collection in (emulated, ours)
        )
        assert got.tobytes() == want.tobytes(), (scale, got, want)
    return len(scales)


print(
    ties()
    + sum(compare(s, like) for s in SHAPES for like in (np.float32, np.float16, ml_dtypes.bfloat16))
)
