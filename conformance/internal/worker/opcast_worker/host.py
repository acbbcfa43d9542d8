"""Arrays in the memory of the host, as NumPy has them: the workers of most frameworks make and read theirs through these."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from opcast_worker.bound import Request, Unsupported

NDArray = np.ndarray[Any, Any]


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return the NumPy dtype of a long name; bfloat16 and float8 are those of ml_dtypes."""
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        return np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except (ImportError, AttributeError):
        raise Unsupported(f"NumPy has no {name} here") from None


def strided(spec: Request, data: bytearray) -> NDArray:
    """Build an array over data with exactly the given strides and offset."""
    dtype, shape = numpy_dtype(spec["dtype"]), tuple(spec["shape"])
    if not data:
        return np.empty(shape, dtype)
    size = dtype.itemsize
    strides = [s * size for s in spec["strides"]]
    return np.ndarray(shape, dtype, data, spec["offset"] * size, strides)


def describe(array: NDArray) -> tuple[Request, bytes]:
    """Describe an array and return its elements in row-major order and the byte order of the machine."""
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "strides": [s // array.dtype.itemsize for s in array.strides],
        "span": span(array),
        "device": "cpu",
        "data": True,
    }, native.tobytes()


def span(array: NDArray) -> tuple[int, int]:
    """Return the first address of an array's memory and the one after its last."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return low, high if array.size else low
