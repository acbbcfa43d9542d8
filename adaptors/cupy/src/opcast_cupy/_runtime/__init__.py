"""What the generated ops of the CuPy adaptor share: devices, streams, layouts, checks.

Every call runs on CuPy's current stream of the arrays' device; nothing waits for it.
"""

from __future__ import annotations

from contextlib import nullcontext
from copy import copy
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import cupy  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
import tvm_ffi

from .._collection import VIEWS, backend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


_framework = _Framework()


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
    if a is None or arg.mutated or _readable(a, arg.stride):
        return a
    return _bits(a).copy(order="C").view(a.dtype)


def _bits(a: Any) -> Any:
    """Return an array whose dtype CuPy knows by name only, not in kernels, as one of its width."""
    view = VIEWS.get(_name(a.dtype))
    return a if view is None else a.view(view[0])


def _allocate(specs: Iterable[Any]) -> list[Any]:
    """Return new arrays of these shapes and dtypes, None for absent ones."""
    return [s and _empty(*s) for s in specs]


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
    if a is None:
        return None
    tensor = tvm_ffi.from_dlpack(_bits(a).__dlpack__(stream=-1))
    view = VIEWS.get(_name(a.dtype))
    return tensor if view is None else backend.retype(tensor, *view[1:])


class Op:
    """One op: its kernel and its calls.

    Parameters
    ----------
    name
        Name of the op.
    schema
        Schema hash of the definition from which the caller was generated.

    """

    def __init__(self, name: str, schema: int) -> None:
        self.info = backend.ops()[name]
        self.check: Callable[..., Any] = getattr(backend.checks, name)
        self._run: Callable[..., Any] = backend.faithful(backend.function(name, schema))
        self._takes_scratch = self.info.takes_scratch(_GPU)

    def single(self, counts: tuple[int, ...]) -> Op:
        """Return the form for single arrays, of an op whose lists have so many."""
        one = copy(self)
        one.info = backend.single(self.info, counts)
        one.check = backend.checker(self.check, self.info, one.info)
        return one

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any = None) -> Any:
        """Call the op on the current stream, after its checks."""
        if self.info.lists:
            return backend.call_lists(self, _framework, inputs, attrs)
        if not _has_device():
            raise RuntimeError(f"{self.info.name}: CuPy found no CUDA device")
        given = backend.as_tuple(out)
        specs, values = self.check(_framework, *inputs, *attrs, given)
        backend.refuse_device(self.info, _framework.device(inputs[0]))
        returned = [s for s, arg in zip(specs, self.info.outputs) if not arg.saved]
        saved: list[Any] = [None] * (len(self.info.outputs) - len(returned))
        scratch: Any = specs[len(self.info.outputs) :]
        if not self._takes_scratch:
            scratch = [None for _ in scratch]
        device = inputs[0].device
        with device:
            outs = given or _allocate(returned)
            stream = _cupy.cuda.get_current_stream()
            with _temporaries(stream):  # freed in the order of the stream, after the kernel's work
                work = _allocate(scratch)
                arrays = [_input(x, arg) for x, arg in zip(inputs, self.info.inputs)]
            read = map(_tensor, arrays)
            with tvm_ffi.use_raw_stream(tvm_ffi.device(_GPU, device.id), stream.ptr):
                self._run(
                    *self.info.lengths,
                    *map(_tensor, outs),
                    *saved,
                    *read,
                    *values,
                    *map(_tensor, work),
                )
        if out is not None:
            return out
        results = *outs, *[x for x, arg in zip(inputs, self.info.inputs) if arg.mutated]
        return results[0] if len(results) == 1 else results
