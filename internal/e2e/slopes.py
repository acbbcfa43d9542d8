"""Hold gelu, and the gradients of gelu, silu_and_mul and layernorm2d, against formulas in double and long double.

The slopes have a zero, and tails that become denormal. Gradients are such that results lie just below a power of two,
where a unit of the last place is smallest beside them, and as large as floats are. Prints how many numbers were compared.
"""

import math
from typing import Any

import ml_dtypes
import numpy as np
import opcast_numpy as ops

COUNT = 120000
Wide = np.longdouble
BITS = {"float32": 23, "float16": 10, "bfloat16": 7}  # of fractions
SMALLEST = {"float32": -126, "float16": -14, "bfloat16": -126}  # powers of two, of normal numbers
rng = np.random.default_rng(11)
np.seterr(over="ignore")  # of exponentials, whose reciprocals are 0
ROOT, CUBIC = 2 * np.sqrt(Wide(2) / Wide("3.14159265358979323846264338327950288")), Wide(0.044715)


def silu(x: Any) -> tuple[Any, Any]:
    """Return the function and its slope."""
    gate, rest = 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x))
    return x * gate, gate * (1 + x * rest)


def tanh_slope(x: Any) -> Any:
    """Return the slope of gelu's tanh form."""
    argument = ROOT * (x + CUBIC * x * x * x)
    gate, rest = 1 / (1 + np.exp(-argument)), 1 / (1 + np.exp(argument))
    return gate * (1 + x * rest * ROOT * (1 + 3 * CUBIC * x * x))


def gelu(x: Any) -> Any:
    """Return x times the normal distribution function."""
    return x * np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in x.tolist()])


def places(like: Any) -> Any:
    """Return where to take slopes: anywhere, next to their zeros, and in the tails."""
    part = COUNT // 4
    zero = np.where(rng.random(part) < 0.5, -0.75246142, -1.2784645)
    near = zero * (1 + rng.standard_normal(part) * 2.0 ** rng.uniform(-24, 0, part))
    parts = [
        rng.standard_normal(part) * 2,
        near,
        rng.uniform(-12, 8, part),
        rng.uniform(-86, 20, part),
    ]
    return np.concatenate(parts).astype(like)


def just_below(slope: Any, like: Any) -> Any:
    """Return gradients whose products with slopes lie just below powers of two, where there are such."""
    with np.errstate(all="ignore"):
        grad = rng.uniform(1.9, 2, len(slope)) / slope
        grad = grad / 2.0 ** np.floor(np.log2(np.abs(grad)))
    return np.where(np.isfinite(grad), grad, 1).astype(like)


def check(name: str, got: Any, want: Any) -> None:
    """Compare in units of the last place."""
    bits, smallest = BITS[got.dtype.name], Wide(2.0) ** SMALLEST[got.dtype.name]
    unit = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(want), smallest))) - bits)
    ulps = np.abs(got.astype(Wide) - want) / unit
    assert np.max(ulps) <= (4 if bits == BITS["float32"] else 1), (
        name,
        got.dtype,
        float(np.max(ulps)),
    )


def large(x: Any) -> None:
    """Expect results of large gradients where they are numbers of float32."""
    for power in (100, 117, 118, 119, 120, 127):
        grad = np.full_like(x, 2.0**power)
        want = grad.astype(Wide) * tanh_slope(x.astype(Wide))
        check("gelu_backward of large", ops.gelu_backward(grad, x, approximate="tanh"), want)


def hard() -> None:
    """Call with numbers for which forms that leave out errors of products and sums are beyond 4 units."""
    grad, x, gate, factor, value = (
        np.full((1, 1), float.fromhex(text), np.float32)
        for text in (
            "0x1.2b0de8p0",
            "-0x1.794cdcp1",
            "-0x1.a4c8a2p2",
            "0x1.c182b2p0",
            "0x1.241cd2p0",
        )
    )
    want = grad.astype(Wide) * tanh_slope(x.astype(Wide))
    check("gelu_backward", ops.gelu_backward(grad, x, approximate="tanh"), want)
    want = factor.astype(Wide) * value.astype(Wide) * silu(gate.astype(Wide))[1]
    got = ops.silu_and_mul_backward(factor, np.concatenate([gate, value], axis=1))
    check("gradient of gates", got[:, :1], want)
    for texts in ("0x1.3f9efcp-4", "-0x1.a677ap+3"), ("0x1.fc01c4p+4", "-0x1.0d0c4ap+2"):
        grad, gate = (np.full((1, 1), float.fromhex(text), np.float32) for text in texts)
        got = ops.silu_and_mul_backward(grad, np.concatenate([gate, gate], axis=1))
        check("gradient of values", got[:, 1:], grad.astype(Wide) * silu(gate.astype(Wide))[0])


def steep() -> None:
    """Expect numbers of layernorm2d_backward where a factor of a row leaves the range of floats."""
    for n in (2, 16, 300):
        x, grad = np.ones((4, n), np.float16), np.full((4, n), 1024, np.float16)
        x[:, 0] = 0
        mean, rstd = np.zeros(4, np.float32), np.full(4, 1.9375 * 2.0**59, np.float32)
        grad_x = ops.layernorm2d_backward(grad, x, np.ones(n, np.float16), mean, rstd)[0]
        assert np.all(grad_x[:, 0] == 0), (n, grad_x)
        assert np.all(np.isneginf(grad_x[:, 1:])), (n, grad_x)


compared = 0
for like in (np.float32, np.float16, ml_dtypes.bfloat16):
    x, value = places(like), rng.standard_normal(COUNT).astype(like)
    wide, factor = x.astype(Wide), value.astype(Wide)
    check("gelu", ops.gelu(x, approximate="none"), gelu(x.astype(np.float64)))
    slope = tanh_slope(wide)
    grad = just_below(slope, like)
    check(
        "gelu_backward", ops.gelu_backward(grad, x, approximate="tanh"), grad.astype(Wide) * slope
    )
    whole, slope = silu(wide)
    grad = just_below(slope * factor, like)
    rows = (COUNT // 100, 100)
    pairs = np.concatenate([x.reshape(rows), value.reshape(rows)], axis=1)
    found = ops.silu_and_mul_backward(grad.reshape(rows), pairs)
    exact = grad.astype(Wide)
    check("gradient of gates", found[:, :100].reshape(-1), exact * factor * slope)
    grad = just_below(whole, like)
    found = ops.silu_and_mul_backward(grad.reshape(rows), pairs)
    check("gradient of values", found[:, 100:].reshape(-1), grad.astype(Wide) * whole)
    compared += 4 * COUNT

# Next to where the form in float ends, on both sides.
large(np.array([-9.96, -9.872, -9.5, -3, -0.2, 0.2, 3, 9.96, 10, 11.5, 1e3], np.float32))
hard()
steep()
print(compared)
