"""Calls the backend's exports with hand-made DLPack tensors: what a C++ caller sees."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from opcast_worker import gpu_memory
from opcast_worker.bound import Bound, Memory, Request, Unsupported
from opcast_worker.caller import Caller
from opcast_worker.dlpack import Array, named, placed


class Backend(Caller):
    """Calls with outputs first, then inputs, then attrs."""

    word = "DLPack tensor"
    kind = Array

    def prepare(self) -> str:
        """Import tvm-ffi, without torch: the backend needs no framework."""
        if self.config["device"] != "cpu":
            gpu_memory.driver(self.config["device"])
        Array.moved = (
            "library" in self.config
        )  # few authors look at offsets, which no framework passes
        sys.modules["torch"] = None  # pyright: ignore[reportArgumentType]
        return importlib.import_module("tvm_ffi").__version__

    def greeting(self) -> Request:
        """Say who is here, and what the library and the machine have."""
        hello = super().greeting()
        if not self.missing:
            hello["tvm"] = str(importlib.import_module("tvm_ffi.libinfo").find_libtvm_ffi())
            hello["built"] = self.built()
            hello["driver"] = gpu_memory.available("rocm" if "rocm" in hello["built"] else "cuda")
            if self.config["device"] != "cpu":
                hello["hardware"] = gpu_memory.driver(self.config["device"]).name()
        return hello

    def built(self) -> list[str]:
        """Return the devices for which the library has kernels."""
        try:
            return json.loads(str(self.native["_opcast_devices"]()))
        except AttributeError:  # a library without other devices
            return ["cpu"]

    def make(self, spec: Request, data: Memory) -> Array:
        """Build a DLPack tensor over data, or over its copy on the device under test.

        A host address stands for memory of a device that is not under test: nobody may look at it.
        """
        if spec.get("readonly"):
            raise Unsupported("a DLPack tensor of the unversioned ABI is never read-only")
        place = spec.get("device") or self.config["device"]
        memory = self.copied(data) if place == self.config["device"] != "cpu" else None
        shape, strides, offset = spec["shape"], spec["strides"], spec["offset"]
        return Array(data, spec["dlpack"], shape, strides, offset, placed(place), memory)

    def copied(self, data: Memory) -> Any:
        """Return the copy of a buffer on the device: arrays over one buffer share it there, too."""
        return data.copied(lambda: gpu_memory.driver(self.config["device"]).buffer(data))

    def contents(self, array: Any, data: Memory) -> bytes:
        """Return the present bytes of the buffer behind an array."""
        del data
        return bytes(array.contents())

    def dtype(self, name: str) -> Any:
        """Return the name: a dtype attr that binds no variable travels as text."""
        return name

    @cached_property
    def names(self) -> dict[tuple[int, int], str]:
        """The names of dtypes, by DLPack's code and bits."""
        return {(d["code"], d["bits"]): d["name"] for d in self.config["dtypes"]}

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe what was written and return its elements in row-major order."""
        code, bits = array.dtype
        size = bits // 8
        data = array.contents()
        elements = np.ndarray(
            array.shape,
            f"V{size}",
            data or bytearray(size),
            array.offset * size if data else 0,
            [s * size for s in array.strides],
        )
        return {
            "dtype": self.names[code, bits],
            "shape": array.shape,
            "strides": array.strides,
            "span": array.span(),
            "device": named(array.device),
            "data": True,
        }, elements.tobytes()

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of an array."""
        return array.span()

    def function(self, op: str) -> Callable[..., Any]:
        """Return the export of an op, on which the lengths of lists come first."""
        return partial(self.native[op], *self.lists["lengths"]) if self.lists else self.native[op]

    def bind(
        self,
        op: str,
        args: list[Any],
        kwargs: Request,
        out: list[Any],
        mutated: tuple[int, ...],
        scratch: list[Any],
    ) -> Bound:
        """Put outputs first and scratch last; the export returns nothing: what it writes is the result."""
        export = self.function(op)
        written = tuple(len(out) + i for i in mutated)

        def call(*args: Any) -> list[Any]:
            export(*args)
            return [*args[: len(out)], *(args[i] for i in written)]

        return Bound(call, [*out, *args, *scratch], kwargs, Array, op, written)

    def probe_null_data(self, call: Bound) -> Any:
        """Pass arrays whose memory is missing."""
        return call.map(Array.without_memory)()

    def probe_null_one(self, call: Bound) -> Any:
        """Pass one array after the other without memory: a kernel would take an optional one for absent."""
        for i, a in enumerate(call.args):
            if isinstance(a, Array) and 0 not in a.shape:
                args = [*call.args[:i], a.without_memory(), *call.args[i + 1 :]]
                try:
                    replace(call, args=args)()
                except ValueError:
                    continue
                raise AssertionError(f"computed without the memory of argument {i}")
        return call()

    def probe_short(self, call: Bound) -> Any:
        """Pass one argument too few."""
        return replace(call, args=call.args[:-1])()

    def probe_long(self, call: Bound) -> Any:
        """Pass one argument too many."""
        return replace(call, args=[*call.args, 1])()


create = Backend
