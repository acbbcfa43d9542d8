"""Calls the NumPy adaptor."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from opcast_worker.abilities import Script
from opcast_worker.bound import Bound, Request, Unsupported, exhausting, refused_singly
from opcast_worker.caller import Caller
from opcast_worker.host import NDArray, describe, numpy_dtype, span, strided


class Derived(np.ndarray[Any, Any]):
    """A class derived from ndarray."""


class NumPy(Caller):
    """Calls with numpy.ndarray."""

    word = "numpy.ndarray"
    kind = np.ndarray
    script = Script()

    def prepare(self) -> str:
        """Return NumPy's version; torch is kept out, because NumPy's users need not have it."""
        if self.config["device"] != "cpu":
            raise Unsupported("its arrays lie in the memory of the host")
        if self.config["alone"]:
            sys.modules["torch"] = None  # pyright: ignore[reportArgumentType]
        return np.__version__

    def make(self, spec: Request, data: bytearray) -> NDArray:
        """Build an array over data."""
        if spec.get("device"):
            raise Unsupported("NumPy has one device")
        array = strided(spec, data)
        array.flags.writeable = not spec.get("readonly", False)
        return array

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe an array and return its elements."""
        return describe(np.asarray(array))

    def dtype(self, name: str) -> Any:
        """Return NumPy's dtype."""
        return numpy_dtype(name)

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of an array."""
        return span(array)

    def hands_over(self, dtype: str) -> bool:
        """Say whether NumPy exports a dtype: not those of ml_dtypes."""
        return hasattr(np, dtype)

    def probe_read_only(self, call: Bound) -> Any:
        """Pass inputs that may not be written, as np.asarray(jax_array) gives."""
        for x in call.arrays():
            x.flags.writeable = False
        return call()

    def probe_byte_swapped(self, call: Bound) -> Any:
        """Pass inputs in the other byte order, as files have them."""
        swapped = call.map(lambda x: x.astype(x.dtype.newbyteorder("S")))
        if all(x.dtype.isnative for x in swapped.arrays()):
            raise Unsupported("the dtype has one byte order")
        return swapped()

    def probe_fortran(self, call: Bound) -> Any:
        """Pass inputs in column-major order."""
        return call.map(lambda x: np.array(x, order="F"))()

    def probe_subclass(self, call: Bound) -> Any:
        """Pass inputs of a derived class."""
        return call.map(lambda x: x.view(Derived))()

    def probe_scalar(self, call: Bound) -> Any:
        """Pass NumPy scalars where an array of rank 0 fits."""
        if all(x.ndim for x in call.arrays()):
            raise Unsupported("no input of rank 0")
        return call.map(lambda x: x[()])()

    def probe_masked(self, call: Bound) -> Any:
        """Pass masked elements: to use them as if they were there would be wrong."""
        result = call.map(lambda x: np.ma.array(x, mask=np.ones(x.shape, bool)))()
        raise AssertionError(f"computed {type(result).__name__} from masked elements")

    def probe_masked_one(self, call: Bound) -> Any:
        """Pass masked elements in one array after the other: each is looked at by itself."""
        return refused_singly(call, lambda x: np.ma.array(x, mask=True), "got MaskedArray")

    def probe_no_memory(self, call: Bound) -> Any:
        """Pass a row so often that no address space holds the results: the rows themselves take no memory."""

        def repeat(args: list[Any], many: list[bool]) -> tuple[int, list[Any]]:
            shapes = [(x.itemsize, x.shape) for x, is_many in zip(args, many) if is_many]
            full = [size * math.prod(max(n, 1) for n in shape) for size, shape in shapes]
            # NumPy counts the other dims of an empty array, too.
            rows = (1 << 62) // max(full, default=1)
            return rows, [
                np.broadcast_to(x, (rows, *x.shape)) if is_many else x
                for x, is_many in zip(args, many)
            ]

        return exhausting(self, call, repeat)


create = NumPy
