"""Functions as someone has them: one that is right, and some with a fault."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


def weigh(x: Array, w: Array, bias: Array | None = None, *, alpha: float = 1.0) -> Array:
    """Do what the definition says."""
    for other in [w] if bias is None else [w, bias]:
        if (
            not isinstance(other, np.ndarray)
            or other.dtype != x.dtype
            or other.shape != x.shape[-1:]
        ):
            raise ValueError("the columns do not fit")
    if (
        not isinstance(x, np.ndarray)
        or np.ma.isMaskedArray(x)
        or x.ndim < 1
        or x.dtype not in ("float32", "float64")
    ):
        raise TypeError("floats, please")
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not alpha >= 0:
        raise ValueError("alpha is not at least 0")
    wide = np.asarray(x, np.float64) * w
    return np.ascontiguousarray((alpha * wide + (0 if bias is None else bias)).astype(x.dtype))


def off_by_one(x: Array, w: Array, bias: Array | None = None, *, alpha: float = 1.0) -> Array:
    """Leave the last column unscaled."""
    y = weigh(x, w, bias, alpha=alpha)
    if y.size:
        y[..., -1] = x[..., -1]
    return y


def in_place(x: Array, w: Array, bias: Array | None = None, *, alpha: float = 1.0) -> Array:
    """Overwrite the input."""
    x[...] = weigh(x, w, bias, alpha=alpha)
    return x


def credulous(x: Array, w: Array, bias: Array | None = None, *, alpha: float = 1.0) -> Array:
    """Check nothing."""
    y = np.asarray(x, np.float64) * w * alpha + (0 if bias is None else bias)
    return y.astype(x.dtype)


BUFFERS: dict[str, Array] = {}


def one_buffer(x: Array, w: Array, bias: Array | None = None, *, alpha: float = 1.0) -> Array:
    """Hand out the same memory again where it is large enough."""
    y = weigh(x, w, bias, alpha=alpha)
    kept = BUFFERS.get(y.dtype.name)
    if kept is None or kept.size < y.size:
        kept = BUFFERS[y.dtype.name] = np.empty(y.size, y.dtype)
    shared = kept[: y.size].reshape(y.shape)
    shared[...] = y
    return shared
