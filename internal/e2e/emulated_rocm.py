"""Calls of a collection on emulated devices of AMD's: which kernel runs where, what a thread's device is afterwards, captures.

Prints how many things were looked at.
"""

from __future__ import annotations

import ctypes
import importlib
from contextlib import nullcontext
from typing import Any

import numpy as np
from opcast_worker.dlpack import ROCM, Array
from opcast_worker.gpu_memory import driver_of

backend: Any = importlib.import_module("waves_backend")
tvm_ffi: Any = importlib.import_module("tvm_ffi")
driver = driver_of("rocm")
NON_BLOCKING, RELAXED = 1, 2
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


def error(y: Any, x: Any) -> str:
    """Call the op, and return its error."""
    try:
        backend.op_call("total", [x], [y])
    except Exception as refused:
        return str(refused)
    return ""


def captured(y: Any, x: Any, *, on_default: bool = False) -> tuple[str, int, int]:
    """Call the op while a graph is captured.

    Parameters
    ----------
    y, x
        Arrays of tvm-ffi's, which has a stream for a thread.
    on_default
        Whether the call is on the default stream, which would wait for the one that is captured.

    Returns
    -------
        The error of the call, HIP's error that it leaves, and what the end of the capture says.

    """
    stream, graph = ctypes.c_void_p(), ctypes.c_void_p()
    driver("cuStreamCreate", ctypes.byref(stream), 0 if on_default else NON_BLOCKING)
    driver("cuStreamBeginCapture_v2", stream, RELAXED)
    there = tvm_ffi.use_raw_stream(tvm_ffi.device("rocm", 0), stream.value)
    with nullcontext() if on_default else there:
        why = error(y, x)
    left = driver.library.hipGetLastError()
    code = driver.library.hipStreamEndCapture(stream, ctypes.byref(graph))
    return why, left, code


def captures() -> None:
    """Capture a call of a kernel of ours, and of a registered one, which a graph would not replay."""
    use(0)
    held = placed([0, 0], [2], [1], 0)
    x, y = tvm_ffi.from_dlpack(placed([1, 2, 4, 8], [2, 2], [2, 1], 0)), tvm_ffi.from_dlpack(held)
    expect(captured(y, x), ("", 0, 0))
    expect(np.frombuffer(bytes(held.contents()), np.float32).tolist(), [0, 0])

    def kernel(y: Any, x: Any) -> None:
        del x, y

    with backend.register_kernel("total", kernel, name="mine", device="rocm", framework="dlpack"):
        expect(error(y, x), "")
        why = "total: mine: a registered kernel cannot be captured in a graph"
        expect(captured(y, x), (why, 0, 0))
        expect(captured(y, x, on_default=True), (why, 0, 0))


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
captures()
print(looked)
