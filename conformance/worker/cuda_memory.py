"""Memory and streams of a CUDA device through the driver alone: hand-made arrays need no framework."""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from typing import Any

from bound import Unsupported

SUCCESS = 0


class Driver:
    """The functions of libcuda, on the primary context of the first device, as frameworks use it."""

    def __init__(self) -> None:
        """Load the driver; Unsupported says why there is no device."""
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Unsupported(f"no CUDA device: {error}") from None
        self.emulated = hasattr(self.library, "cuEmulatorCalls")
        self.device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.threads = threading.local()  # those that have the context
        self.threads.ready = True
        try:
            self("cuInit", 0)
            self("cuDeviceGet", ctypes.byref(self.device), 0)
            self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)
            self("cuCtxSetCurrent", self.context)
        except RuntimeError as error:
            raise Unsupported(f"no CUDA device: {error}") from None

    def __call__(self, name: str, *args: Any) -> None:
        """Call a function that returns a code of errors, in a thread that has a context."""
        if not hasattr(self.threads, "ready"):
            self.library.cuCtxSetCurrent(self.context)
            self.threads.ready = True
        code = getattr(self.library, name)(*args)
        if code != SUCCESS:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'unknown error').decode()}")

    def name(self) -> str:
        """Return what the maker calls the device."""
        text = ctypes.create_string_buffer(256)
        self("cuDeviceGetName", text, len(text), self.device)
        return text.value.decode()

    def finish(self) -> None:
        """Wait for all work of the device."""
        self("cuCtxSynchronize")


@cache
def driver() -> Driver:
    """Return the driver of this process."""
    return Driver()


def available() -> bool:
    """Whether the machine has a CUDA device."""
    try:
        driver()
    except Unsupported:
        return False
    return True


class Buffer:
    """Memory on the device; it is freed with the object.

    Parameters
    ----------
    data
        What it holds.

    """

    def __init__(self, data: bytes | bytearray) -> None:
        """Allocate and fill the memory."""
        self.size = len(data)
        self.pointer = ctypes.c_uint64()
        driver()("cuMemAlloc_v2", ctypes.byref(self.pointer), ctypes.c_size_t(max(self.size, 1)))
        self.write(data)

    def write(self, data: bytes | bytearray) -> None:
        """Copy bytes to the device, and wait."""
        if data:
            size = ctypes.c_size_t(len(data))
            driver()("cuMemcpyHtoD_v2", self.pointer, bytes(data), size)
            driver().finish()

    def read(self) -> bytes:
        """Wait for the device and copy the memory back."""
        data = ctypes.create_string_buffer(max(self.size, 1))
        driver().finish()
        driver()("cuMemcpyDtoH_v2", data, self.pointer, ctypes.c_size_t(self.size))
        return data.raw[: self.size]

    def copy_to(self, other: Buffer, stream: ctypes.c_void_p) -> None:
        """Copy on the device, in the order of a stream."""
        size = ctypes.c_size_t(self.size)
        driver()("cuMemcpyDtoDAsync_v2", other.pointer, self.pointer, size, stream)

    def __del__(self) -> None:
        """Free the memory; the end of the process frees what is left."""
        driver().library.cuMemFree_v2(self.pointer)
