"""Calls of the emulated collection as a GPU's surroundings make them: devices, contexts, captures, errors of the driver.

Prints how many things were looked at.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from opcast_worker.dlpack import Array
from opcast_worker.gpu_memory import Buffer, Driver, driver_of

os.environ["EMULATED_DEBUG"] = "1"
backend: Any = importlib.import_module("emulated_backend")
tvm_ffi: Any = importlib.import_module("tvm_ffi")
CUDA, MANAGED, FLOAT, RELAXED, UNKNOWN = 2, 13, (2, 32), 2, 999
looked: list[object] = []


def expect(got: object, want: object) -> None:
    """Compare what was found with what should be."""
    looked.append(want)
    assert got == want, f"got {got!r}, want {want!r}"


def refused(call: Callable[[], object]) -> str:
    """Return the error of a call."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def driver() -> Driver:
    """Return the driver, which is opened when it is first needed."""
    return driver_of("cuda")


def context(device: int) -> ctypes.c_void_p:
    """Return the primary context of a device."""
    made = ctypes.c_void_p()
    driver()("cuDevicePrimaryCtxRetain", ctypes.byref(made), device)
    return made


def use(current: ctypes.c_void_p | None) -> None:
    """Make a context current, or none."""
    driver()("cuCtxSetCurrent", current)


def current() -> int | None:
    """Return the context that is current."""
    made = ctypes.c_void_p()
    driver()("cuCtxGetCurrent", ctypes.byref(made))
    return made.value


def active(device: int) -> bool:
    """Whether the device has a context."""
    flags, yes = ctypes.c_uint(), ctypes.c_int()
    driver()("cuDevicePrimaryCtxGetState", device, ctypes.byref(flags), ctypes.byref(yes))
    return bool(yes.value)


class Managed(Buffer):
    """Memory that the host and all devices share."""

    def __init__(self, data: bytes) -> None:
        """Allocate and fill the memory."""
        self.size, self.driver, self.pointer = len(data), driver(), ctypes.c_uint64()
        size = ctypes.c_size_t(self.size)
        driver()("cuMemAllocManaged", ctypes.byref(self.pointer), size, 1)
        self.write(data)


def placed(x: Any, device: tuple[int, int] = (CUDA, 0)) -> Array:
    """Return an array of the current context like one of NumPy."""
    data = x.tobytes()
    memory = Managed(data) if device[0] == MANAGED else driver().buffer(data)
    steps = [step // x.itemsize for step in x.strides]
    dtype = FLOAT if x.dtype == np.float32 else (0, 8 * x.itemsize)
    return Array(bytearray(x.tobytes()), dtype, list(x.shape), steps, 0, device, memory)


def values(array: Array) -> list[float]:
    """Return what an array of float32 holds."""
    return np.frombuffer(array.contents(), np.float32).tolist()


X = np.array([[3, -4]], np.float32)
ZEROS = np.zeros_like(X)


def relu(x: Any, y: Any) -> None:
    """Call the op."""
    backend.op_call("eltwise_relu", [x], [y])


def devices() -> None:
    """Call on the second device while nothing is current, then while the first one is."""
    for before in (None, context(0)):
        use(context(1))
        x, y = placed(X, (CUDA, 1)), placed(ZEROS, (CUDA, 1))
        use(before)
        relu(x, y)
        expect(current(), None if before is None else before.value)
        use(context(1))
        expect(values(y), [3, 0])
        expect(
            refused(lambda x=x: relu(x, placed(ZEROS))),
            "ValueError: eltwise_relu: y: expected device cuda:1 (as x), got cuda:0",
        )
    use(context(0))


def architectures() -> None:
    """Ask which kernels take a call on devices of several architectures."""
    answers = [text_of(k) for k in (0, 1, 2)]
    expect("gemm_f16_tc on cuda: yes" in answers[0], True)
    expect("gemm_f16_tc on cuda: yes" in answers[1], True)
    want = "built for sm_80, sm_90; this device is sm_75: add it to [cuda] arch"
    expect(want in answers[2], True)
    use(context(2))
    x, y = placed(X, (CUDA, 2)), placed(ZEROS, (CUDA, 2))
    expect(want in refused(lambda: relu(x, y)), True)
    use(context(0))


def text_of(device: int) -> str:
    """Return what the kernels of gemm say on a device."""
    held = SimpleNamespace(
        shape=(16, 16), dtype="float16", device=SimpleNamespace(type="cuda", index=device)
    )
    return " ".join(backend.explain("gemm", held, held).split())


def managed() -> None:
    """Call with memory that devices share."""
    y = placed(ZEROS)
    relu(placed(X, (MANAGED, 0)), y)
    expect(values(y), [3, 0])
    shared = placed(ZEROS, (MANAGED, 0))
    relu(placed(X), shared)
    expect(values(shared), [3, 0])


def captured(call: Callable[[], object]) -> tuple[str, bool]:
    """Return the error of a call on a stream that is captured, and whether the capture stays valid."""
    stream, graph = ctypes.c_void_p(), ctypes.c_void_p()
    driver()("cuStreamCreate", ctypes.byref(stream), 1)
    driver()("cuStreamBeginCapture_v2", stream, RELAXED)
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream.value):
        error = refused(call)
    code = driver().library.cuStreamEndCapture(stream, ctypes.byref(graph))
    driver().library.cuGraphDestroy(graph)
    driver()("cuStreamDestroy_v2", stream)
    return error, code == 0


def captures() -> None:
    """Capture a call of a kernel of ours, of a registered one, and one whose contents are looked at."""
    held = placed(ZEROS)
    x, y = tvm_ffi.from_dlpack(placed(X)), tvm_ffi.from_dlpack(held)  # on tvm-ffi's stream
    expect(captured(lambda: relu(x, y)), ("no error", True))
    expect(values(held), [0, 0])  # a capture runs nothing

    def kernel(y: Any, x: Any) -> None:
        del x, y

    with backend.register_kernel(
        "eltwise_relu", kernel, name="mine", device="cuda", framework="dlpack"
    ):
        relu(x, y)
        want = "mine: a registered kernel cannot be captured in a graph"
        expect(captured(lambda: relu(x, y)), (f"RuntimeError: eltwise_relu: {want}", True))
    weight, ids = x, tvm_ffi.from_dlpack(placed(np.zeros(1, np.int64)))
    read = "what an array holds cannot be read while a graph is captured"
    error = captured(lambda: backend.op_call("embedding", [ids, weight], [y]))
    expect(error, (f"RuntimeError: embedding: {read}", True))


def driver_calls() -> None:
    """Look at what a call asks of the driver beside its kernel: at most three things."""
    library: Any = driver().library
    library.cuEmulatorReadRecord.restype = ctypes.c_char_p
    x, y = placed(X), placed(ZEROS)
    relu(x, y)
    library.cuEmulatorBeginRecord()
    relu(x, y)
    asked = library.cuEmulatorReadRecord().decode().splitlines()
    made = [line for line in asked if not line.startswith(" ")]
    expect(made, ["cuCtxGetCurrent", "cuCtxGetDevice", "cuCtxGetCurrent", "cuEmulatorLaunch"])


def faults() -> None:
    """Have each call of the driver fail that a call of an op makes."""
    library: Any = driver().library
    library.cuEmulatorCalls.restype = library.cuEmulatorAlive.restype = ctypes.c_int64
    use(context(1))
    x, y = placed(X, (CUDA, 1)), placed(ZEROS, (CUDA, 1))
    use(None)
    before = library.cuEmulatorCalls()
    relu(x, y)
    count, alive = library.cuEmulatorCalls() - before, library.cuEmulatorAlive()
    for n in range(count - 1):  # with the last one, what was current comes back
        library.cuEmulatorFail(ctypes.c_int64(n), UNKNOWN)
        error = refused(lambda: relu(x, y))
        expect(error.startswith("RuntimeError: eltwise_relu: "), True)
        expect(error.endswith("unknown error"), True)
        expect(current(), None)
        expect(library.cuEmulatorAlive(), alive)
        relu(x, y)
    use(context(1))
    expect(values(y), [3, 0])
    expect(count > 3, True)
    use(context(0))


expect(active(1), False)
devices()
architectures()
managed()
captures()
driver_calls()
faults()
print(len(looked))
