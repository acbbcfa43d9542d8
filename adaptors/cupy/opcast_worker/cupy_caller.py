"""Calls the CuPy adaptor."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from opcast_worker.abilities import Script
from opcast_worker.bound import Memory, Request, Unsupported
from opcast_worker.caller import Caller
from opcast_worker.gpu_memory import WORDS, kind_of, vendor
from opcast_worker.host import numpy_dtype


class CuPy(Caller):
    """Calls with cupy.ndarray."""

    word = "cupy.ndarray"
    script = Script(
        imports="import cupy\nimport ml_dtypes\nimport numpy as np",
        array="cupy.asarray(np.ndarray(shape, dtype, memory, offset, strides))",
    )

    def prepare(self) -> str:
        """Import cupy and return its version; without a device there is nothing to call."""
        if self.config["device"] == "cpu":
            raise Unsupported("its arrays lie on GPUs: opcast test --device cuda, or rocm")
        self.cupy: Any = importlib.import_module("cupy")
        self.kind = self.cupy.ndarray
        runtime = self.cupy.cuda.runtime
        vendor(self.config["device"], "cupy", is_rocm=runtime.is_hip)
        self.gpu = kind_of(self.config["device"])
        try:
            count = runtime.getDeviceCount()
        except runtime.CUDARuntimeError as error:
            raise Unsupported(f"no {WORDS[self.gpu]} device: {error}") from None
        if count == 0:
            raise Unsupported(f"no {WORDS[self.gpu]} device")
        return self.cupy.__version__

    def make(self, spec: Request, data: Memory) -> Any:
        """Build an array on the device with the given strides and offset."""
        if spec.get("readonly"):
            raise Unsupported("CuPy has no read-only arrays")
        if spec.get("device"):
            raise Unsupported("one device only")
        dtype, shape = numpy_dtype(spec["dtype"]), tuple(spec["shape"])
        strides = [s * dtype.itemsize for s in spec["strides"]]
        try:
            if not data:
                return self.cupy.empty(shape, dtype)
            memory = self.copied(data).data + spec["offset"] * dtype.itemsize
            return self.cupy.ndarray(shape, dtype, memptr=memory, strides=strides)
        except (TypeError, ValueError) as error:
            raise Unsupported(f"CuPy: {error}") from None

    def wait(self, result: Any) -> None:
        """Wait for the device."""
        del result
        self.cupy.cuda.Device().synchronize()

    def copied(self, data: Memory) -> Any:
        """Return the copy of a buffer on the device: arrays over one buffer share it there, too."""
        return data.copied(lambda: self.cupy.asarray(np.frombuffer(data, np.uint8)))

    def dtype(self, name: str) -> Any:
        """Return CuPy's dtype."""
        return numpy_dtype(name)

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe an array and return its elements, as integers: CuPy cannot copy float8."""
        elements = array.view(f"u{array.dtype.itemsize}")
        return {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "strides": [s // array.dtype.itemsize for s in array.strides],
            "span": self.span(array),
            "device": f"{self.gpu}:{array.device.id}",
            "data": True,
        }, elements.get().tobytes()

    def contents(self, array: Any, data: Memory) -> bytes:
        """Return the present bytes of the buffer behind an array."""
        if not data:
            return b""
        memory = self.cupy.cuda.MemoryPointer(array.data.mem, 0)
        return self.cupy.ndarray((len(data),), np.uint8, memptr=memory).get().tobytes()

    def span(self, array: Any) -> tuple[int, int]:
        """Return the addresses of an array."""
        low = high = array.data.ptr
        for size, stride in zip(array.shape, array.strides):
            low += min(stride * (size - 1), 0)
            high += max(stride * (size - 1), 0)
        return low, high + (array.dtype.itemsize if array.size else 0)


create = CuPy
