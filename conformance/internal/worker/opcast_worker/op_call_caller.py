"""Calls ops by their numbers, through the backend's op_call: what a program that knows no op by name does."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from opcast_worker import gpu_memory
from opcast_worker.backend_caller import Backend
from opcast_worker.bound import Bound, Memory, Request
from opcast_worker.dlpack import Array
from opcast_worker.host import NDArray, describe, span, strided
from opcast_worker.lists import grouped


class OpCall(Backend):
    """Calls with arrays of two kinds: NumPy's on the host where NumPy has the dtype, else hand-made ones."""

    kind = (Array, np.ndarray)

    def __init__(self, config: Request) -> None:
        """Leave out what is about exports."""
        super().__init__(config)
        self.groups.pop("special")

    def prepare(self) -> str:
        """Return tvm-ffi's version; other frameworks are imported by the probes that need them."""
        if self.config["device"] != "cpu":
            gpu_memory.driver(self.config["device"])
        os.environ.setdefault("JAX_PLATFORMS", gpu_memory.kind_of(self.config["device"]))
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the device is shared
        return importlib.import_module("tvm_ffi").__version__

    def adaptor(self, collection: str) -> Any:
        """Return the backend: there is no other package."""
        del collection
        return self.backend

    def make(self, spec: Request, data: Memory) -> Any:
        """Build every second array with NumPy."""
        plain = self.config["device"] == "cpu" and not spec.get("device")
        if not plain or (spec["index"] % 2 == 0 and not spec.get("readonly")):
            return super().make(spec, data)
        array = strided(spec, data)
        array.flags.writeable = not spec.get("readonly", False)
        return array

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe an array of either kind."""
        return describe(array) if isinstance(array, np.ndarray) else super().read(array)  # pyright: ignore[reportUnknownArgumentType]

    def contents(self, array: Any, data: Memory) -> bytes:
        """Return the present bytes of the buffer behind an array of either kind."""
        return bytes(data) if isinstance(array, np.ndarray) else super().contents(array, data)  # pyright: ignore[reportUnknownArgumentType]

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of an array of either kind."""
        if isinstance(array, np.ndarray):
            return span(cast("NDArray", array))
        return super().span(array)

    def function(self, op: str) -> Callable[..., Any]:
        """Return op_call with the number of an op."""
        kind = self.backend.ops()[op].kind
        return lambda *args, **kwargs: self.backend.op_call(kind, *args, **kwargs)

    def bind(
        self,
        op: str,
        args: list[Any],
        kwargs: Request,
        out: list[Any],
        mutated: tuple[int, ...],
        scratch: list[Any],
    ) -> Bound:
        """Pass lists of arrays, and attrs by name; what the call writes is the result."""
        function, count, lists = self.function(op), len(out), self.lists
        spare = scratch if any(s is not None for s in scratch) else None
        written = tuple(count + i for i in mutated)

        def call(*args: Any, **attrs: Any) -> list[Any]:
            inputs, outputs = list(args[count:]), list(args[:count])
            if lists:
                inputs, outputs = (
                    grouped(lists["inputs"], inputs),
                    grouped(lists["outputs"], outputs),
                )
            function(inputs, outputs, attrs, spare)
            return [*args[:count], *(args[i] for i in written)]

        return Bound(call, [*out, *args], kwargs, self.kind, op, written)


create = OpCall
