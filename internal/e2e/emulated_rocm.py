"""Calls of a collection on emulated devices of AMD's: which kernel runs where, and what a thread's device is afterwards.

Prints how many things were looked at.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np
from dlpack import ROCM, Array
from gpu_memory import driver_of

backend: Any = importlib.import_module("waves_backend")
driver = driver_of("rocm")
KERNELS = ("total_wide", "total")
"""Those that run on the devices: only one is for the architecture of the first."""
looked = 0


def expect(got: object, want: object) -> None:
    """Compare what was found with what should be."""
    global looked  # noqa: PLW0603
    looked += 1
    assert got == want, f"got {got!r}, want {want!r}"


def use(device: int) -> None:
    """Make a device that of the thread."""
    expect(driver.library.hipSetDevice(device), 0)


def used() -> int:
    """Return the device of the thread."""
    device = ctypes.c_int(-1)
    expect(driver.library.hipGetDevice(ctypes.byref(device)), 0)
    return device.value


def placed(values: list[float], shape: list[int], strides: list[int], device: int) -> Array:
    """Return an array of float32 in memory of a device."""
    before, data = used(), bytearray(np.array(values, np.float32).tobytes())
    use(device)
    memory = driver.buffer(data)
    use(before)
    return Array(data, (2, 32), shape, strides, 0, (ROCM, device), memory)


def error(y: Array, x: Array) -> str:
    """Call the op, and return its error."""
    try:
        backend.op_call("total", [x], [y])
    except Exception as refused:
        return str(refused)
    return ""


for device, kernel in enumerate(KERNELS):
    x, y = placed([1, 2, 4, 8], [2, 2], [2, 1], device), placed([0, 0], [2], [1], device)
    for thread in range(len(KERNELS)):
        use(thread)
        other = next(k for k in KERNELS if k != kernel)
        with backend.use_kernel("total", kernel):
            expect(error(y, x), "")
        expect(used(), thread)
        if device == 1:
            with backend.use_kernel("total", other):
                why = f"{other}: needs an architecture gfx90a; this device is gfx942"
                expect(why in error(y, x), True)
            expect(used(), thread)
    use(device)
    expect(np.frombuffer(bytes(y.contents()), np.float32).tolist(), [3, 12])
far = Array(bytearray(16), (2, 32), [2, 2], [2, 1], 0, (ROCM, 2))
expect(
    error(Array(bytearray(8), (2, 32), [2], [1], 0, (ROCM, 2)), far),
    "total: rocm:2 cannot be used: invalid device ordinal",
)
expect(driver.library.hipGetLastError(), 0)
print(looked)
