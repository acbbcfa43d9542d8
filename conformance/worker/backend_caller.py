"""Calls the backend's exports with hand-made DLPack tensors: what a C++ caller sees."""

from __future__ import annotations

import importlib
import math
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
        """Describe an output and return its elements, which the backend accepts only dense."""
        code, bits = array.dtype
        start, size = array.offset * bits // 8, math.prod(array.shape) * bits // 8
        return {
            "dtype": self.config["dtypes"][f"{code},{bits}"],
            "shape": array.shape,
            "strides": array.strides,
            "span": array.span(),
            "device": "cpu",
            "data": True,
        }, bytes(array.data[start : start + size])

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of an array."""
        return array.span()

    def function(self, op: str) -> Callable[..., Any]:
        """Return the export of an op."""
        return self.native[op]

    def bind(self, op: str, args: list[Any], kwargs: Request, out: list[Any]) -> Bound:
        """Put the outputs first; the export returns nothing, so they are the result."""
        export = self.function(op)

        def call(*args: Any) -> list[Any]:
            export(*args)
            return out

        return Bound(call, [*out, *args], kwargs, Array)

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
