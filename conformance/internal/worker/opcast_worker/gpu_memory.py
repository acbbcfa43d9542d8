"""Memory and streams of a GPU through its vendor's library alone: hand-made arrays need no framework."""

from __future__ import annotations

import ctypes
import re
import threading
from functools import cache
from pathlib import Path
from typing import Any

from opcast_worker.bound import Unsupported

SUCCESS = 0
WORDS = {"cuda": "CUDA", "rocm": "ROCm"}
"""What kinds of GPUs are called in messages."""

HIP = {
    "cuInit": "hipInit",
    "cuDeviceGetName": "hipDeviceGetName",
    "cuCtxSynchronize": "hipDeviceSynchronize",
    "cuMemAlloc_v2": "hipMalloc",
    "cuMemFree_v2": "hipFree",
    "cuMemcpyHtoD_v2": "hipMemcpyHtoD",
    "cuMemcpyDtoH_v2": "hipMemcpyDtoH",
    "cuMemcpyDtoDAsync_v2": "hipMemcpyDtoDAsync",
    "cuMemsetD8Async": "hipMemsetD8Async",
    "cuStreamCreate": "hipStreamCreateWithFlags",
    "cuStreamBeginCapture_v2": "hipStreamBeginCapture",
    "cuStreamEndCapture": "hipStreamEndCapture",
    "cuGraphInstantiateWithFlags": "hipGraphInstantiateWithFlags",
    "cuGraphLaunch": "hipGraphLaunch",
}
"""What HIP calls the functions of CUDA's driver that are used here; their arguments are the same."""


def kind_of(device: str) -> str:
    """Return the kind of a device: "cuda" of "cuda:0"."""
    return device.partition(":")[0]


def vendor(device: str, framework: str, *, is_rocm: bool) -> None:
    """Refuse a framework that was built for GPUs of another vendor than that of the device under test."""
    kind, built = kind_of(device), "rocm" if is_rocm else "cuda"
    if kind not in {"cpu", built}:
        raise Unsupported(
            f"no {WORDS[kind]} device: this {framework} is not built for {WORDS[kind]}"
        )


class Driver:
    """The functions of CUDA's driver, on the first device, in a thread as frameworks set it up."""

    kind = "cuda"
    libraries = ("libcuda.so.1",)

    def __init__(self) -> None:
        """Load the driver; Unsupported says why there is no device."""
        self.library = self.load()
        self.threads = threading.local()  # those that have the device
        self.threads.ready = True
        try:
            self("cuInit", 0)
            self.choose()
            self.use()
        except RuntimeError as error:
            raise Unsupported(f"no {WORDS[self.kind]} device: {error}") from None
        self.emulated = self.name().startswith("emulated ")

    def load(self) -> ctypes.CDLL:
        """Open the first library that is there."""
        why = None
        for name in self.libraries:
            try:
                return ctypes.CDLL(name)
            except OSError as error:
                why = why or error
        raise Unsupported(f"no {WORDS[self.kind]} device: {why}")

    def choose(self) -> None:
        """Make the primary context of the first device, which frameworks share."""
        self.device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(self.device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)

    def use(self) -> None:
        """Make the device that of the calling thread."""
        self("cuCtxSetCurrent", self.context)

    def function(self, name: str) -> Any:
        """Return a function by the name that CUDA has for it."""
        return getattr(self.library, name)

    def text(self, code: int) -> bytes | None:
        """Return what an error means."""
        text = ctypes.c_char_p()
        self.library.cuGetErrorString(code, ctypes.byref(text))
        return text.value

    def __call__(self, name: str, *args: Any) -> None:
        """Call a function that returns a code of errors, in a thread that has the device."""
        if not hasattr(self.threads, "ready"):
            self.threads.ready = True
            self.use()
        code = self.function(name)(*args)
        if code != SUCCESS:
            raise RuntimeError(f"{name}: {(self.text(code) or b'unknown error').decode()}")

    def name(self) -> str:
        """Return what the maker calls the device."""
        text = ctypes.create_string_buffer(256)
        self("cuDeviceGetName", text, len(text), self.device)
        return text.value.decode()

    def finish(self) -> None:
        """Wait for all work of the device."""
        self("cuCtxSynchronize")

    def buffer(self, data: bytes | bytearray) -> Buffer:
        """Return memory on the device that holds some bytes."""
        return Buffer(data, self)


class HIPDriver(Driver):
    """The same functions of HIP's runtime, which the process may have loaded already."""

    kind = "rocm"
    libraries = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so")

    def load(self) -> ctypes.CDLL:
        """Open the library that the process has, else the first that is there."""
        found = re.search(r"/\S*/libamdhip64\.so\S*", Path("/proc/self/maps").read_text("utf-8"))
        if found:
            self.libraries = (found[0],)
        return super().load()

    def choose(self) -> None:
        """Take the first device."""
        self.device = ctypes.c_int(0)

    def use(self) -> None:
        """Make the device that of the calling thread, which is a number in HIP."""
        code = self.library.hipSetDevice(self.device)
        if code != SUCCESS:
            raise RuntimeError(f"hipSetDevice: {(self.text(code) or b'unknown error').decode()}")

    def function(self, name: str) -> Any:
        """Return a function by the name that CUDA has for it."""
        return getattr(self.library, HIP[name])

    def text(self, code: int) -> bytes | None:
        """Return what an error means."""
        describe = self.library.hipGetErrorString
        describe.restype = ctypes.c_char_p
        return describe(code)


@cache
def driver_of(kind: str) -> Driver:
    """Return the driver of this process for a kind of devices."""
    return HIPDriver() if kind == "rocm" else Driver()


def driver(device: str) -> Driver:
    """Return the driver of this process for a device."""
    return driver_of(kind_of(device))


def available(kind: str) -> bool:
    """Whether the machine has a device of a kind."""
    try:
        driver_of(kind)
    except Unsupported:
        return False
    return True


class Buffer:
    """Memory on the device that holds some data; it is freed with the object."""

    def __init__(self, data: bytes | bytearray, driver: Driver) -> None:
        """Allocate and fill the memory."""
        self.size, self.driver = len(data), driver
        self.pointer = ctypes.c_uint64()
        driver("cuMemAlloc_v2", ctypes.byref(self.pointer), ctypes.c_size_t(max(self.size, 1)))
        self.write(data)

    def write(self, data: bytes | bytearray) -> None:
        """Copy bytes to the device, and wait."""
        if data:
            size = ctypes.c_size_t(len(data))
            self.driver("cuMemcpyHtoD_v2", self.pointer, bytes(data), size)
            self.driver.finish()

    def read(self) -> bytes:
        """Wait for the device and copy the memory back."""
        data = ctypes.create_string_buffer(max(self.size, 1))
        self.driver.finish()
        self.driver("cuMemcpyDtoH_v2", data, self.pointer, ctypes.c_size_t(self.size))
        return data.raw[: self.size]

    def copy_to(self, other: Buffer, stream: ctypes.c_void_p) -> None:
        """Copy on the device, in the order of a stream."""
        size = ctypes.c_size_t(self.size)
        self.driver("cuMemcpyDtoDAsync_v2", other.pointer, self.pointer, size, stream)

    def __del__(self) -> None:
        """Free the memory; the end of the process frees what is left."""
        self.driver.function("cuMemFree_v2")(self.pointer)
