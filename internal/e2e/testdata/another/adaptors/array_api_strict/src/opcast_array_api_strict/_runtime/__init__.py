"""What the generated ops of the array-api-strict adaptor share: their calls.

The framework implements the array API standard and nothing else. Its arrays lie in the memory of
NumPy's, which DLPack tells.
"""

# pyright: basic
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_strict as xp
import numpy as np
from tvm_ffi import from_dlpack

from .._collection import backend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

REQUIRED: Any = None
publish = backend.publish

_Array = type(xp.empty(0))
_DType = type(xp.float32)
_CPU = xp.empty(0).device


def _numpy(array: Any) -> np.ndarray[Any, Any]:
    """Return NumPy's array over the same memory."""
    return np.from_dlpack(array)


class _Framework:
    """The rules' view of arrays."""

    array = "array_api_strict.Array"

    def is_array(self, value: object) -> bool:
        return isinstance(value, _Array)

    def shape(self, value: Any) -> tuple[int, ...]:
        return value.shape

    def dtype(self, value: Any) -> str:
        return str(value.dtype).rpartition(".")[2]

    def device(self, value: Any) -> str:
        return "cpu" if value.device == _CPU else str(value.device).split("'")[1]

    def dtype_name(self, value: object) -> str | None:
        found = getattr(xp, value, None) if isinstance(value, str) else value
        return str(found).rpartition(".")[2] if isinstance(found, _DType) else None

    def check_out(self, op: str, name: str, value: Any) -> None:
        self.check_mutated(op, name, value, "")

    def check_mutated(self, op: str, name: str, value: Any, stride: str) -> None:
        if not _numpy(value).flags.writeable:
            raise ValueError(f"{op}: {name}: expected writable memory, got a read-only array")
        backend.check_layout(op, name, self.memory(value), stride)

    def memory(self, value: Any) -> Any:
        a = _numpy(value)
        return backend.Memory(a.ctypes.data, a.itemsize, a.shape, a.strides)


_framework = _Framework()


def _readable(a: np.ndarray[Any, Any], stride: str) -> bool:
    """Whether a kernel that takes such strides can read the array where it lies."""
    if a.flags.c_contiguous or stride == "":
        return a.flags.c_contiguous
    return stride == "any" or a.strides[-1] == a.itemsize or a.shape[-1] == 1


def _input(value: Any, arg: backend.Arg) -> Any:
    """Return an input as the kernel reads it, copied only where it has to be."""
    if value is None:
        return None
    a = _numpy(value)
    return a if arg.mutated or _readable(a, arg.stride) else np.array(a, order="C")


def _tensor(value: Any) -> Any:
    """Return an array as the kernel takes it."""
    return None if value is None else from_dlpack(value)


def _allocate(specs: Iterable[Any]) -> list[Any]:
    """Return new arrays of these shapes and dtypes, None for absent ones."""
    return [s and xp.empty(tuple(s[0]), dtype=getattr(xp, s[1])) for s in specs]


class Op:
    """One op.

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
        self._takes_scratch = self.info.takes_scratch("cpu")

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any = None) -> Any:
        """Check a call and make it."""
        given = backend.as_tuple(out)
        specs, values = self.check(_framework, *inputs, *attrs, given)
        device = next(_framework.device(x) for x in inputs if x is not None)
        backend.refuse_device(self.info, device)
        returned = [s for s, arg in zip(specs, self.info.outputs) if not arg.saved]
        saved: list[Any] = [None] * (len(self.info.outputs) - len(returned))
        scratch: Any = specs[len(self.info.outputs) :]
        if not self._takes_scratch:
            scratch = [None for _ in scratch]
        try:
            outs = given or _allocate(returned)
            work = _allocate(scratch)
            arrays = [_input(x, arg) for x, arg in zip(inputs, self.info.inputs)]
        except (MemoryError, ValueError) as error:  # the latter is NumPy's word on absurd sizes
            raise MemoryError(f"{self.info.name}: out of memory") from error
        read = map(_tensor, arrays)
        self._run(*map(_tensor, outs), *saved, *read, *values, *map(_tensor, work))
        if out is not None:
            return out
        results = *outs, *[x for x, arg in zip(inputs, self.info.inputs) if arg.mutated]
        return results[0] if len(results) == 1 else results
