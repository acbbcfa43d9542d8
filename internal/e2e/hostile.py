"""Hold kernels of a NumPy package against formulas in long double, on rows that are hard for floats.

Rows of numbers just above 1 beside many small ones, of equal numbers, of numbers whose squares leave the range of
floats, of denormals, and all of them in one row. The argument is the package. Prints how many arrays were compared.
"""

import importlib
import sys
from typing import Any

import ml_dtypes
import numpy as np

ops: Any = importlib.import_module(sys.argv[1])
SHAPES = [(3, 1), (4, 8), (5, 7), (3, 40), (2, 300), (2, 1100), (1, 4100)]
FRACTIONS = {"float32": 23, "float16": 10, "bfloat16": 7}  # bits
SMALLEST = {"float32": -149, "float16": -24, "bfloat16": -133}  # powers of two
LARGEST = {
    "float32": 2.0**128 * (1 - 2.0**-24),
    "float16": 65504.0,
    "bfloat16": 2.0**128 * (1 - 2.0**-8),
}
Wide = np.longdouble
rng = np.random.default_rng(7)


def near_one(x: Any) -> Any:
    """Return one number just above 1 beside small ones."""
    x = x * 1e-7
    x[..., 0] = 1 + 2.0**-23
    return x


def of_kind(kind: int, x: Any) -> Any:
    """Turn normal numbers into those of one of the kinds."""
    kinds: list[Any] = [
        x,
        near_one(x),
        1 + np.abs(x) * 1e-3,
        x + 1000,
        x * 0 + 3,
        x * 2.0**124,
        x * 10.0 ** rng.uniform(-42, -36, x.shape),
        x * 2.0 ** rng.uniform(-140, 120, x.shape),
        x * 2.0 ** (140.0 * (x > 1.3) - 90),
        x + 5,
    ]
    return kinds[kind]


def rounded(x: Any, like: Any) -> Any:
    """Return finite numbers of a dtype."""
    largest = LARGEST[np.dtype(like).name]
    return np.clip(x, -largest, largest).astype(like)


def numbers(shape: tuple[int, ...], like: Any) -> Any:
    """Return numbers of one of the kinds."""
    x = of_kind(int(rng.integers(10)), rng.standard_normal(shape))
    return rounded(x, like)


def rms_norm(x: Any, weight: Any, eps: float) -> Any:
    """Return x by its root mean square, times the weight."""
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + Wide(eps)) * weight


def layernorm(x: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Return the rows with mean 0 and variance 1, times the weight, plus the bias."""
    x = x - x.mean(-1, keepdims=True)
    return rms_norm(x, weight, eps) + bias


def silu_and_mul(x: Any) -> Any:
    """Return the silu of the first half of each row times the second."""
    gate, value = np.split(x, 2, axis=-1)
    return gate / (1 + np.exp(-gate)) * value


def softmax(x: Any) -> Any:
    """Return the probabilities of a row."""
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def wide(x: Any) -> Any:
    """Return the numbers in long double."""
    return x.astype(Wide)


def opposite(normal: Any, like: Any) -> Any:
    """Return a bias that leaves little of a row, of the dtype of an array."""
    return rounded(-normal * (1 + 2.0 ** rng.uniform(-14, -2, len(normal))), like.dtype)


def opposed(x: Any, weight: Any, eps: float) -> tuple[Any, Any]:
    """Call layernorm2d with such a bias; return what is and what should be, but for what has no digits."""
    bias = opposite(layernorm(wide(x), wide(weight), Wide(0), eps)[0], weight)
    got = ops.layernorm2d(x, weight, bias, eps=eps)
    want = layernorm(wide(x), wide(weight), wide(bias), eps)
    return without(got, want, abs(wide(bias)) * 2.0**-40)


def centred(rows: int, weight: Any, eps: float) -> tuple[Any, Any]:
    """Call layernorm2d without a bias where the mean may be one of the numbers, and its result 0."""
    x = np.round(3 * rng.standard_normal((rows, len(weight))) + 5).astype(weight.dtype)
    got = ops.layernorm2d(x, weight, np.zeros_like(weight), eps=eps)
    return got, layernorm(wide(x), wide(weight), Wide(0), eps)


def without(got: Any, want: Any, small: Any) -> tuple[Any, Any]:
    """Return what is and what should be, with zeros where both are so small that no digits are left."""
    nothing = (abs(want) < small) & (abs(wide(got)) < small)
    want[nothing] = 0
    got[nothing] = 0
    return got, want


def softmax_backward(rows: int, n: int, like: Any) -> tuple[Any, Any]:
    """Call softmax_backward where a gradient is nearly the sum from which it is taken."""
    y = rounded(softmax(4 * rng.standard_normal((rows, n))), like)
    grad = rounded(rng.standard_normal((rows, n)), like)
    for _ in range(4):  # the gradient is part of the sum
        grad[:, n // 2] = rounded((wide(grad) * wide(y)).sum(-1), like)
    terms = wide(grad) * wide(y)
    want = wide(y) * (wide(grad) - terms.sum(-1, keepdims=True))
    small = wide(y) * abs(terms).sum(-1, keepdims=True) * 2.0**-28  # doubles have no more digits
    return without(ops.softmax_backward(grad, y), want, small)


def check(name: str, got: Any, want: Any) -> int:
    """Compare a result with what it should be, in units of the last place of its dtype."""
    dtype = got.dtype.name
    fraction, largest = FRACTIONS[dtype], LARGEST[dtype]
    size = np.maximum(np.abs(want), Wide(2.0) ** (SMALLEST[dtype] + fraction))
    ulps = np.abs(got.astype(Wide) - want) / Wide(2.0) ** (np.floor(np.log2(size)) - fraction)
    same = (np.isnan(want) & np.isnan(got)) | ((np.abs(want) > largest) & (np.abs(got) >= largest))
    worst = float(np.max(np.where(same, 0, ulps)))
    assert worst <= (4 if dtype == "float32" else 1), (name, got.shape, dtype, worst)
    return 1


def compare(rows: int, n: int, like: Any, eps: float) -> int:
    """Call the ops that have a row's numbers meet."""
    x, residual = numbers((rows, n), like), numbers((rows, n), like)
    weight, bias, logits = (
        numbers((n,), like),
        numbers((n,), like),
        near_one(rng.standard_normal((rows, n)) * 1e8),
    )
    exact = [wide(a) for a in (x, residual, weight, bias)]
    added, total = ops.fused_add_rms_norm(x.copy(), residual.copy(), weight, eps=eps)
    gates = np.concatenate([x, residual], -1)
    return (
        check("rms_norm", ops.rms_norm(x, weight, eps=eps), rms_norm(exact[0], exact[2], eps))
        + check("fused_add_rms_norm", added, rms_norm(exact[0] + exact[1], exact[2], eps))
        + check("fused_add_rms_norm", total, exact[0] + exact[1])
        + check(
            "layernorm2d",
            ops.layernorm2d(x, weight, bias, eps=eps),
            layernorm(exact[0], exact[2], exact[3], eps),
        )
        + check("layernorm2d", *centred(rows, weight, eps))
        # Of float32, no digits would be left.
        + (check("layernorm2d", *opposed(x, weight, eps)) if weight.dtype.itemsize == 2 else 0)
        + check("softmax_backward", *softmax_backward(rows, n + 1, like))
        + check("silu_and_mul", ops.silu_and_mul(gates), silu_and_mul(gates.astype(Wide)))
        + check(
            "softmax",
            ops.softmax(logits.astype(like)),
            softmax(logits.astype(like).astype(Wide)),
        )
    )


with np.errstate(all="ignore"):
    print(
        sum(
            compare(rows, n, like, eps)
            for rows, n in SHAPES
            for like in (np.float32, np.float16, ml_dtypes.bfloat16)
            for eps in (0.0, 1e-30, 1e-6)
            for _ in range(4)
        )
    )
