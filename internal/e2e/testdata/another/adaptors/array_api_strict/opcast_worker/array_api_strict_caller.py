"""Calls the array-api-strict adaptor."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from opcast_worker.abilities import Script
from opcast_worker.bound import Request, Unsupported
from opcast_worker.caller import Caller
from opcast_worker.host import describe, span, strided

if TYPE_CHECKING:
    from opcast_worker.bound import Bound


class Strict(Caller):
    """Calls with the arrays of array-api-strict, which lie in the memory of NumPy's."""

    word = "array_api_strict.Array"
    elsewhere = "device1"
    script = Script(
        imports="import array_api_strict as xp\nimport numpy as np",
        array="xp.asarray(np.ndarray(shape, dtype, memory, offset, strides), copy=False)",
    )

    def prepare(self) -> str:
        """Import the framework and return its version."""
        if self.config["device"] != "cpu":
            raise Unsupported("its arrays lie in the memory of the host")
        if self.config["alone"]:
            sys.modules["torch"] = None  # pyright: ignore[reportArgumentType]
        self.xp: Any = importlib.import_module("array_api_strict")
        self.kind = type(self.xp.empty(0))
        return self.xp.__version__

    def make(self, spec: Request, data: bytearray) -> Any:
        """Build an array over data."""
        if spec.get("readonly"):
            raise Unsupported("the standard has no read-only arrays")
        device = self.xp.Device(spec["device"]) if spec.get("device") else None
        try:
            return self.xp.asarray(strided(spec, data), copy=False, device=device)
        except TypeError as error:
            raise Unsupported(str(error)) from None

    def dtype(self, name: str) -> Any:
        """Return the framework's dtype."""
        found = getattr(self.xp, name, None)
        if not isinstance(found, type(self.xp.float32)):
            raise Unsupported(f"the standard has no {name}")
        return found

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe an array and return its elements."""
        return describe(np.from_dlpack(array))

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of an array."""
        return span(np.from_dlpack(array))

    def probe_transposed(self, call: Bound) -> Any:
        """Pass arrays that were made in the other order of dimensions."""
        return call.map(lambda x: self.xp.asarray(x.T, copy=True).T if x.ndim == 2 else x)()


create = Strict
