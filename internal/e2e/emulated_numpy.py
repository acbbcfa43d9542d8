"""The ops of the emulated collection for arrays of NumPy, which are copied to the emulated device and back.

It stands for the package of an adaptor, in scripts that compare packages.
"""

from __future__ import annotations

import ctypes
import importlib
import re
from functools import partial
from typing import Any

import numpy as np
import opcast_numpy as ours
from opcast_worker.dlpack import CUDA, Array
from opcast_worker.gpu_memory import driver_of

backend: Any = importlib.import_module("emulated_backend")
tvm_ffi: Any = importlib.import_module("tvm_ffi")
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
    dtype = tvm_ffi.dtype(x.dtype.name)
    place = (before - low) // size
    return Array(
        data,
        (dtype.type_code, dtype.bits),
        list(x.shape),
        steps,
        place,
        (CUDA, 0),
        driver_of("cuda").buffer(bytes(data)),
    )


def taken(on_device: Array, like: Any) -> Any:
    """Return what an array on the device holds."""
    size = like.itemsize
    steps = [step * size for step in on_device.strides]
    data = bytearray(on_device.contents()) or bytearray(size)
    return np.ndarray(
        like.shape, like.dtype, data, on_device.offset * size if like.size else 0, steps
    )


def missing(call: partial[None]) -> re.Match[str] | None:
    """Make a call; return the dtype and shape of a scratch array that it lacks, which its error tells."""
    try:
        return call()
    except ValueError as error:
        found = re.search(r"expected a scratch array (\w+)\[(.*)\], got None", str(error))
        if found is None:
            raise
        return found


def call(name: str, *arrays: Any, **attrs: Any) -> Any:
    """Call an op; what its results look like is asked of the kernels for the CPU."""
    made: Any = getattr(ours, name)(*[a if a is None else a.copy() for a in arrays], **attrs)
    likes: list[Any] = [made] if isinstance(made, np.ndarray) else [*made]
    inputs = [None if a is None else placed(a) for a in arrays]
    written = [x for x, arg in zip(inputs, backend.ops()[name].inputs) if arg.mutated and x]
    outputs = [placed(np.zeros_like(y)) for y in likes[: len(likes) - len(written)]]
    scratch: list[Array] = []
    while wanted := missing(partial(backend.op_call, name, inputs, outputs, attrs, scratch)):
        scratch.append(placed(np.zeros([int(n) for n in wanted[2].split(",")], wanted[1])))
    results = [taken(x, y) for x, y in zip([*outputs, *written], likes, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def __getattr__(name: str) -> Any:
    """Return an op as a function."""
    return partial(call, name)
