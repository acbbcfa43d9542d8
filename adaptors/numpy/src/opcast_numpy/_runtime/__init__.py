"""What the generated ops of the NumPy adaptor share: every call that is not plain.

A generated function calls the kernel itself on plain arrays: of type ndarray, dense and writable.
All other calls come here: read-only memory, strides, foreign byte order, the dtypes of ml_dtypes,
subclasses, given outputs, and faults.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy import empty, ndarray
from tvm_ffi import from_dlpack

from .._collection import VIEWS, backend

REQUIRED: Any = None
DTYPES: Any = (type, np.dtype)  # what is a dtype; NumPy itself takes much more for one
# What an input is in a plain call that may be a number of some kind.
FLOAT, INT, BOOL = {ndarray, float, int}, {ndarray, int}, {ndarray, bool}
FAULT = Exception  # whatever ends a plain call: the general one copes with it or says what is wrong
again = backend.again
publish = backend.publish

# DLPack capsules of this version carry a read-only flag; NumPy exports read-only memory in no other.
_VERSIONED = (1, 0)


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
        self.check_mutated(op, name, value, "")

    def check_mutated(self, op: str, name: str, value: Any, stride: str) -> None:
        if not value.flags.writeable:
            raise ValueError(f"{op}: {name}: expected writable memory, got a read-only array")
        backend.check_layout(op, name, self.memory(value), stride)
        if not value.flags.aligned:
            raise ValueError(f"{op}: {name}: expected aligned memory, got unaligned memory")
        if not value.dtype.isnative:
            got = value.dtype.str
            raise ValueError(f"{op}: {name}: expected native byte order, got dtype {got}")

    def memory(self, value: Any) -> Any:
        return backend.Memory(
            _address(np.asarray(value)), value.itemsize, value.shape, value.strides
        )


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


def _input(value: Any, arg: backend.Arg) -> Any:
    """Return an input as an array that the kernel can read, copied only where it has to be."""
    if value is None or type(value) in backend.NUMBERS:
        return value
    a = np.asarray(value)
    misplaced = arg.align > 1 and _address(a) % arg.align
    if arg.mutated or (_readable(a, arg.stride) and not misplaced):
        return a
    return a.astype(a.dtype.newbyteorder("="), order="C", copy=True)


def _address(a: ndarray[Any, Any]) -> int:
    return a.__array_interface__["data"][0]


def _tensor(value: Any) -> Any:
    """Return an array, or a number, as the kernel takes it."""
    if value is None or type(value) in backend.NUMBERS:
        return value
    a = np.asarray(value)
    view = VIEWS.get(_name(a.dtype))
    if view is None:
        return from_dlpack(a.__dlpack__(max_version=_VERSIONED))
    name, code, bits = view
    return backend.retype(from_dlpack(a.view(name).__dlpack__(max_version=_VERSIONED)), code, bits)


class Op(backend.EagerOp):
    """One op: its kernel, and its calls that are not plain."""

    framework = _Framework()

    def once(self, fault: Exception) -> None:
        """Raise what a kernel raised that may have overwritten its inputs: it must not run again."""
        again(fault)
        ours = str(fault).startswith(self.info.name + ":")  # NumPy's and tvm-ffi's come before
        if ours and type(fault) in {RuntimeError, MemoryError}:
            raise fault

    def allocate(self, specs: Iterable[Any], like: Any) -> list[Any]:
        """Return new arrays of these shapes and dtypes, None for absent ones."""
        return [s and empty(s[0], _dtype(s[1])) for s in specs]

    def launch(self, inputs: Any, attrs: Any, given: Any, specs: Any, values: Any) -> list[Any]:
        """Run the kernel on arrays, copied where it cannot read them."""
        try:
            outs = self.outputs(given, specs, inputs[0])
            work = self.scratch(specs, inputs[0])
            arrays = [_input(x, arg) for x, arg in zip(inputs, self.info.inputs)]
        except (MemoryError, ValueError) as error:  # the latter is NumPy's word on absurd sizes
            raise MemoryError(f"{self.info.name}: out of memory") from error
        read = map(_tensor, arrays)
        self.run(*self.info.lengths, *map(_tensor, outs), *read, *values, *map(_tensor, work))
        return outs
