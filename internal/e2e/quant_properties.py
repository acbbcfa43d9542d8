"""Hold what is said of quantised numbers, and of products of them, against plain arithmetic.

Prints how many numbers were compared.
"""

from typing import Any

import ml_dtypes
import numpy as np
import opcast_numpy as ops

MOST = {"int8": 127, "float8_e4m3fn": 448, "float8_e4m3fnuz": 240}
BITS = 4  # of numbers of 8 bits, the leading one included
SMALLEST = {"float8_e4m3fn": 2.0**-9, "float8_e4m3fnuz": 2.0**-10}  # above 0
rng = np.random.default_rng(5)
compared = 0


def half_steps(x: Any, scale: Any, dtype: str) -> Any:
    """Return half of the distance between the numbers that stand for some like x."""
    if dtype == "int8":
        return scale / 2
    size = np.maximum(np.abs(x) / scale, SMALLEST[dtype] * 2**BITS / 2)
    return scale * 2.0 ** (np.floor(np.log2(size)) - BITS)


def there_and_back(x: Any, dtype: str) -> int:
    """Quantise and dequantise: every number is within half a step, the largest ones are hit."""
    for size in (x.shape[-1], 32):
        if size == 32:
            q, scale = ops.per_token_group_quant(x, group_size=32, out_dtype=dtype)
        else:
            q, scale = ops.per_token_quant(x, out_dtype=dtype)
        wide, scales = x.astype(np.float64), np.repeat(scale.astype(np.float64), size, axis=1)
        exact = q.astype(np.float64) * scales
        room = half_steps(wide, scales, dtype) * (1 + 1e-6)
        assert np.all(np.abs(exact - wide) <= room), (dtype, size)
        groups = np.abs(q.astype(np.float64)).reshape(len(x), -1, size)
        assert np.all(groups.max(axis=-1) == MOST[dtype]), (dtype, size)
        got = np.asarray(ops.dequantize(q, scale, out_dtype="float32"), np.float32)
        assert np.array_equal(got, exact.astype(np.float32)), (dtype, size)
    return 4 * x.size


def static_is_dynamic(x: Any, dtype: str) -> int:
    """Quantise a row by the scale that it has."""
    q, scale = ops.per_token_quant(x[:1], out_dtype=dtype)
    same = ops.per_tensor_quant(x[0], scale[0], out_dtype=dtype)
    assert np.array_equal(q[0].astype(np.float32), same.astype(np.float32)), dtype
    return same.size


def integers_are_exact(depth: int) -> int:
    """Multiply integers, the largest too, which add up beyond what float32 and int32 have."""
    a = rng.integers(-127, 128, (3, depth)).astype(np.int8)
    b = rng.integers(-127, 128, (5, depth)).astype(np.int8)
    a[0], b[0], b[1] = -128, -128, 127
    ones = np.ones((5, 1), np.float32)
    got = np.asarray(ops.gemm_a8w8(a, b, ones[:3], ones, out_dtype="float32"), np.float32)
    want = a.astype(np.int64) @ b.astype(np.int64).T
    assert np.array_equal(got, want.astype(np.float32)), depth
    return got.size


for like in (np.float32, np.float16, ml_dtypes.bfloat16):
    numbers = (rng.standard_normal((37, 160)) * 2.0 ** rng.integers(-9, 9, (37, 1))).astype(like)
    for name in MOST:
        compared += there_and_back(numbers, name) + static_is_dynamic(numbers, name)
for places in (1, 1023, 1024, 1025, 5000, 2**18 + 3):
    compared += integers_are_exact(places)
print(compared)
