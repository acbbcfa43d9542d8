"""Calls the backend's exports with hand-made DLPack tensors: what a C++ caller sees."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from bound import Bound, Request, Unsupported
from caller import Caller
from dlpack import CPU, CUDA, Array

if TYPE_CHECKING:
    from collections.abc import Callable


class Backend(Caller):
    """Calls with outputs first, then inputs, then attrs."""

    word = "DLPack tensor"
    kind = Array

    def prepare(self) -> str:
        """Import tvm-ffi, without torch: the backend needs no framework."""
        sys.modules["torch"] = None  # pyright: ignore[reportArgumentType]
        return importlib.import_module("tvm_ffi").__version__

    def make(self, spec: Request, data: bytearray) -> Array:
        """Build a DLPack tensor over data."""
        if spec.get("readonly"):
            raise Unsupported("a DLPack tensor of the unversioned ABI is never read-only")
        device = (CUDA, 0) if spec.get("device") == "cuda:0" else (CPU, 0)
        return Array(data, spec["dlpack"], spec["shape"], spec["strides"], spec["offset"], device)

    def dtype(self, name: str) -> Any:
        """Return the name: a dtype attr that binds no variable travels as text."""
        return name

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe what was written and return its elements in row-major order."""
        code, bits = array.dtype
        size = bits // 8
        elements = np.ndarray(
            array.shape,
            f"V{size}",
            array.data or bytearray(size),
            array.offset * size if array.data else 0,
            [s * size for s in array.strides],
        )
        return {
            "dtype": self.config["dtypes"][f"{code},{bits}"],
            "shape": array.shape,
            "strides": array.strides,
            "span": array.span(),
            "device": "cpu",
            "data": True,
        }, elements.tobytes()

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of an array."""
        return array.span()

    def function(self, op: str) -> Callable[..., Any]:
        """Return the export of an op."""
        return self.native[op]

    def bind(
        self, op: str, args: list[Any], kwargs: Request, out: list[Any], mutated: tuple[int, ...]
    ) -> Bound:
        """Put the outputs first; the export returns nothing, so what it writes is the result."""
        export = self.function(op)
        written = tuple(len(out) + i for i in mutated)

        def call(*args: Any) -> list[Any]:
            export(*args)
            return [*args[: len(out)], *(args[i] for i in written)]

        return Bound(call, [*out, *args], kwargs, Array, op, written)

    def probe_null_data(self, call: Bound) -> Any:
        """Pass arrays whose memory is missing."""
        return call.map(Array.without_memory)()

    def probe_short(self, call: Bound) -> Any:
        """Pass one argument too few."""
        return replace(call, args=call.args[:-1])()

    def probe_long(self, call: Bound) -> Any:
        """Pass one argument too many."""
        return replace(call, args=[*call.args, 1])()


create = Backend
