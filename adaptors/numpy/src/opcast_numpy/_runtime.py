"""What the generated ops of the NumPy adaptor share: every call that is not plain.

A generated function calls the kernel itself on plain arrays: of type ndarray, dense and writable.
All other calls come here: read-only memory, strides, foreign byte order, the dtypes of ml_dtypes,
subclasses, given outputs, and faults.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import empty, ndarray
from tvm_ffi import from_dlpack

from ._collection import VIEWS, backend

if TYPE_CHECKING:
    from collections.abc import Callable

REQUIRED: Any = None
DTYPES: Any = (str, type, np.dtype)  # what names a dtype; NumPy itself takes much more for one
FAULT = Exception  # whatever ends a plain call: the general one copes with it or says what is wrong
publish = backend.publish

# DLPack capsules of this version carry a read-only flag; NumPy exports read-only memory in no other.
_VERSIONED = (1, 0)
# Steps of NumPy's exact search after which an overlap is assumed.
_OVERLAP_WORK: Any = 10_000


class _Framework:
    """The rules' view of arrays. NumPy's scalars are arrays without dimensions."""

    array = "numpy.ndarray"

    def is_array(self, value: object) -> bool:
        return isinstance(value, (ndarray, np.generic)) and not isinstance(value, np.ma.MaskedArray)

    def shape(self, value: Any) -> tuple[int, ...]:
        return value.shape

    def dtype(self, value: Any) -> str:
        return _name(value.dtype)

    def device(self, value: object) -> str:
        return "cpu"

    def dtype_name(self, value: object) -> str | None:
        try:
            return _name(_dtype(value)) if isinstance(value, DTYPES) else None
        except (TypeError, ValueError):
            return None

    def check_out(self, op: str, name: str, value: Any) -> None:
        if not value.flags.writeable:
            raise ValueError(f"{op}: {name}: expected writable memory, got a read-only array")
        if not value.flags.c_contiguous:
            strides = [s // value.itemsize for s in value.strides]
            raise ValueError(f"{op}: {name}: expected contiguous memory, got strides {strides}")
        if not value.flags.aligned:
            raise ValueError(f"{op}: {name}: expected aligned memory, got unaligned memory")
        if not value.dtype.isnative:
            got = value.dtype.str
            raise ValueError(f"{op}: {name}: expected native byte order, got dtype {got}")

    def overlaps(self, a: Any, b: Any) -> bool:
        if not np.may_share_memory(a, b):
            return False
        try:
            return np.shares_memory(a, b, max_work=_OVERLAP_WORK)
        except np.exceptions.TooHardError:
            return True


_framework = _Framework()


@cache  # NumPy composes the name anew on each access, which takes longer than a call
def _name(dtype: np.dtype[Any]) -> str:
    return dtype.name


def _dtype(value: Any) -> np.dtype[Any]:
    """Return a dtype of NumPy, or of ml_dtypes where only that knows the name."""
    if isinstance(value, str) and value in VIEWS:
        return np.dtype(getattr(import_module("ml_dtypes"), value))  # an optional package
    return np.dtype(value)


def _readable(a: np.ndarray[Any, Any], stride: str) -> bool:
    """Whether a kernel that takes such strides can read the array where it lies."""
    if not (a.dtype.isnative and a.flags.aligned):
        return False
    if a.flags.c_contiguous or stride == "" or any(s % a.itemsize for s in a.strides):
        return a.flags.c_contiguous
    return stride == "any" or a.strides[-1] == a.itemsize or a.shape[-1] == 1


def _input(value: Any, stride: str) -> np.ndarray[Any, Any] | None:
    """Return an input as an array that the kernel can read, copied only where it has to be."""
    if value is None:
        return None
    a = np.asarray(value)
    return a if _readable(a, stride) else a.astype(a.dtype.newbyteorder("="), order="C", copy=True)


def _tensor(a: np.ndarray[Any, Any] | None) -> Any:
    """Return an array as the kernel takes it."""
    if a is None:
        return None
    view = VIEWS.get(_name(a.dtype))
    if view is None:
        return from_dlpack(a.__dlpack__(max_version=_VERSIONED))
    name, code, bits = view
    return backend.retype(from_dlpack(a.view(name).__dlpack__(max_version=_VERSIONED)), code, bits)


class Op:
    """One op: its kernel, and its calls that are not plain.

    Parameters
    ----------
    name
        Name of the op.
    schema
        Schema hash of the definition from which the caller was generated.

    """

    def __init__(self, name: str, schema: int) -> None:
        self.kernel = backend.function(name, schema)
        self.info = backend.ops()[name]
        self.check: Callable[..., Any] = getattr(backend.checks, name)

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any) -> Any:
        """Call the op on any arrays, after its checks."""
        given = backend.as_tuple(out)
        specs, values = self.check(_framework, *inputs, *attrs, given)
        backend.refuse_device(self.info, "cpu")
        try:
            outs = given or tuple(empty(shape, _dtype(dtype)) for shape, dtype in specs)
            arrays = [_input(x, arg.stride) for x, arg in zip(inputs, self.info.inputs)]
        except (MemoryError, ValueError) as error:  # the latter is NumPy's word on absurd sizes
            raise MemoryError(f"{self.info.name}: out of memory") from error
        self.kernel(*[_tensor(np.asarray(x)) for x in outs], *map(_tensor, arrays), *values)
        if out is not None:
            return out
        return outs[0] if len(outs) == 1 else outs
