"""What the generated ops of the CuPy adaptor share: devices, streams, layouts, checks.

Every call runs on CuPy's current stream of the arrays' device; nothing waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from typing import Any

import cupy  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
import tvm_ffi

from .._collection import VIEWS, backend

REQUIRED: Any = None
_DTYPES: Any = (type, np.dtype)  # what is a dtype; NumPy itself takes much more for one
publish = backend.publish

_cupy: Any = cupy  # untyped
_ndarray: Any = _cupy.ndarray
_GPU = "rocm" if _cupy.cuda.runtime.is_hip else "cuda"


@cache
def _has_device() -> bool:
    try:
        return _cupy.cuda.runtime.getDeviceCount() > 0
    except _cupy.cuda.runtime.CUDARuntimeError:
        return False


class _Framework:
    """The rules' view of arrays."""

    array = "cupy.ndarray"

    def is_array(self, value: object) -> bool:
        return isinstance(value, _ndarray)

    def shape(self, value: Any) -> tuple[int, ...]:
        return value.shape

    def dtype(self, value: Any) -> str:
        return _name(value.dtype)

    def device(self, value: Any) -> str:
        return f"{_GPU}:{value.device.id}"

    def dtype_name(self, value: object) -> str | None:
        try:
            return _name(_dtype(value)) if isinstance(value, _DTYPES) else None
        except (TypeError, ValueError):
            return None

    def check_out(self, op: str, name: str, value: Any) -> None:
        self.check_mutated(op, name, value, "")

    def check_mutated(self, op: str, name: str, value: Any, stride: str) -> None:
        backend.check_layout(op, name, self.memory(value), stride, signed=False)  # see _readable

    def memory(self, value: Any) -> Any:
        return backend.Memory(value.data.ptr, value.itemsize, value.shape, value.strides)


@cache
def _name(dtype: np.dtype[Any]) -> str:
    return dtype.name


def _dtype(value: Any) -> np.dtype[Any]:
    """Return a dtype of NumPy, or of ml_dtypes where only that knows the name."""
    if isinstance(value, str) and value in VIEWS:
        return np.dtype(getattr(import_module("ml_dtypes"), value))  # an optional package
    return np.dtype(value)


def _readable(a: Any, stride: str) -> bool:
    """Whether a kernel that takes such strides can read the array where it lies.

    CuPy divides strides by the item size as if both had no sign before it hands them on.
    """
    if a.flags.c_contiguous or stride == "" or any(s < 0 or s % a.itemsize for s in a.strides):
        return a.flags.c_contiguous
    return stride == "any" or a.strides[-1] == a.itemsize or a.shape[-1] == 1


def _input(a: Any, arg: backend.Arg) -> Any:
    """Return an input as an array that the kernel can read, copied only where it has to be."""
    if a is None or type(a) in backend.NUMBERS or arg.mutated:
        return a
    if _readable(a, arg.stride) and a.data.ptr % arg.align == 0:
        return a
    return _bits(a).copy(order="C").view(a.dtype)


def _bits(a: Any) -> Any:
    """Return an array whose dtype CuPy knows by name only, not in kernels, as one of its width."""
    view = VIEWS.get(_name(a.dtype))
    return a if view is None else a.view(view[0])


def _temporaries(stream: Any) -> Any:
    """Where memory comes from that is freed with the call: from the graph, while one is captured.

    CuPy's pool would give a freed block to others, and each replay of the graph would overwrite it.
    """
    if _GPU != "cuda":  # CuPy captures no graphs on AMD's GPUs
        return nullcontext()
    try:
        capturing = stream.is_capturing()
    except _cupy.cuda.runtime.CUDARuntimeError:  # the call will say what is wrong with the stream
        capturing = False
    return _cupy.cuda.using_allocator(_cupy.cuda.malloc_async) if capturing else nullcontext()


def _empty(shape: tuple[int, ...], dtype: str) -> Any:
    view = VIEWS.get(dtype)
    return _cupy.empty(shape, view[0] if view else dtype).view(_dtype(dtype))


def _tensor(a: Any) -> Any:
    """Return an array as the kernel takes it, without making a stream wait."""
    if a is None or type(a) in backend.NUMBERS:
        return a
    tensor = tvm_ffi.from_dlpack(_bits(a).__dlpack__(stream=-1))
    view = VIEWS.get(_name(a.dtype))
    return tensor if view is None else backend.retype(tensor, *view[1:])


class Op(backend.EagerOp):
    """One op: its kernel and its calls on the current stream."""

    framework = _Framework()

    def judged(self, inputs: Any, attrs: Any, given: Any) -> Any:
        """Check the arguments, where there is a device."""
        if not _has_device():
            raise RuntimeError(f"{self.info.name}: CuPy found no CUDA device")
        return super().judged(inputs, attrs, given)

    def allocate(self, specs: Iterable[Any], like: Any) -> list[Any]:
        """Return new arrays of these shapes and dtypes on the current device, None for absent ones."""
        return [s and _empty(*s) for s in specs]

    def launch(self, inputs: Any, attrs: Any, given: Any, specs: Any, values: Any) -> list[Any]:
        """Run the kernel on the current stream of the arrays' device."""
        device = inputs[0].device
        with device:
            outs = self.outputs(given, specs, inputs[0])
            stream = _cupy.cuda.get_current_stream()
            with _temporaries(stream):  # freed in the order of the stream, after the kernel's work
                work = self.scratch(specs, inputs[0])
                arrays = [_input(x, arg) for x, arg in zip(inputs, self.info.inputs)]
            made, read, space = (map(_tensor, every) for every in (outs, arrays, work))
            with tvm_ffi.use_raw_stream(tvm_ffi.device(_GPU, device.id), stream.ptr):
                self.run(*self.info.lengths, *made, *read, *values, *space)
        return outs
