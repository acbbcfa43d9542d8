"""The ops of the emulated collection for arrays of NumPy, which are copied to the emulated device and back.

It stands for the package of an adaptor, in scripts that compare packages.
"""

from __future__ import annotations

import ctypes
import importlib
from functools import partial
from typing import Any

import numpy as np
import opcast_numpy as ours
from cuda_memory import Buffer
from dlpack import CUDA, Array

backend: Any = importlib.import_module("emulated_backend")
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
ALIGNMENT = 64


def placed(x: Any) -> Array:
    """Return an array on the device like one of NumPy, with its strides and as well aligned."""
    size = x.itemsize
    steps = [step // size for step in x.strides]
    low = sum(min(step * (n - 1), 0) for n, step in zip(x.shape, x.strides)) if x.size else 0
    high = sum(max(step * (n - 1), 0) for n, step in zip(x.shape, x.strides)) + size
    first = x.ctypes.data + low
    before = first % ALIGNMENT // size * size
    held = ctypes.string_at(first, high - low) if x.size else b""
    data = bytearray(before) + held
    code = 4 if x.dtype.name == "bfloat16" else CODES[x.dtype.kind]
    place = (before - low) // size
    return Array(
        data, (code, 8 * size), list(x.shape), steps, place, (CUDA, 0), Buffer(bytes(data))
    )


def taken(on_device: Array, like: Any) -> Any:
    """Return what an array on the device holds."""
    size = like.itemsize
    steps = [step * size for step in on_device.strides]
    data = bytearray(on_device.contents()) or bytearray(size)
    return np.ndarray(
        like.shape, like.dtype, data, on_device.offset * size if like.size else 0, steps
    )


def call(name: str, *arrays: Any, **attrs: Any) -> Any:
    """Call an op; what its results look like is asked of the kernels for the CPU."""
    made: Any = getattr(ours, name)(*[a if a is None else a.copy() for a in arrays], **attrs)
    likes: list[Any] = [made] if isinstance(made, np.ndarray) else [*made]
    inputs = [None if a is None else placed(a) for a in arrays]
    written = [x for x, arg in zip(inputs, backend.ops()[name].inputs) if arg.mutated and x]
    outputs = [placed(np.zeros_like(y)) for y in likes[: len(likes) - len(written)]]
    backend.op_call(name, inputs, outputs, attrs)
    results = [taken(x, y) for x, y in zip([*outputs, *written], likes, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def __getattr__(name: str) -> Any:
    """Return an op as a function."""
    return partial(call, name)
