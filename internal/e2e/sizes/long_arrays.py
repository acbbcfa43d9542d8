"""Arrays that are longer than memory.

Most pages of a long array are the same few megabytes, mapped again and again; its beginning and its end
have memory of their own. So an offset that lost its upper bits reads and writes in the wrong place.
"""

import ctypes
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

WINDOW = 1 << 22  # bytes
MOST = 8 << 30  # bytes of memory
REPEATED = 8 * MOST  # bytes of an array of windows; of a longer one, only both ends have memory

Fill = Callable[[np.ndarray], None]


class LeftOut(Exception):
    """Why a case is not tried."""


libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
SHARED, PRIVATE, FIXED, ANONYMOUS, NORESERVE = 1, 2, 16, 32, 0x4000


class Memory:
    """The long arrays of a case."""

    def __init__(self) -> None:
        self.held: list[tuple[int, int]] = []

    def map(self, size: int) -> int:
        """Return the address of so many bytes, most of them the same window."""
        size = (size + 2 * WINDOW) // WINDOW * WINDOW
        fd = os.memfd_create("window")
        os.ftruncate(fd, WINDOW)
        base = libc.mmap(None, size, 3, PRIVATE | ANONYMOUS | NORESERVE, -1, 0)
        assert base != ctypes.c_void_p(-1).value, os.strerror(ctypes.get_errno())
        for at in range(WINDOW, size - 3 * WINDOW if size <= REPEATED else 0, WINDOW):
            assert libc.mmap(base + at, WINDOW, 3, SHARED | FIXED, fd, 0) == base + at
        os.close(fd)
        self.held.append((base, size))
        return base

    def array(self, shape: list[int], dtype: Any, fill: Fill) -> np.ndarray:
        """Return an array; what all of a long one has in common is filled once."""
        if min(shape, default=0) < 0:
            raise LeftOut("no such array")
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size > 128 * REPEATED:
            raise LeftOut(f"an array of {size >> 30} GiB")
        if size < 8 * WINDOW:
            x = np.empty(shape, dtype)
            fill(x.reshape(-1))
            return x
        raw: Any = (ctypes.c_char * size).from_address(self.map(size))
        flat: np.ndarray = np.frombuffer(raw, dtype)
        each = WINDOW // flat.itemsize
        for part in (flat[:each], flat[each : 2 * each], flat[(size // WINDOW - 1) * each :]):
            fill(part)
        return flat.reshape(shape)

    def free(self) -> None:
        """Give everything back."""
        for base, size in self.held:
            libc.munmap(base, size)
        self.held = []


def poison(x: np.ndarray) -> None:
    """Write what no op gives."""
    x.view(np.uint8)[...] = 0xFF


def total(f: Callable[..., np.ndarray], *arrays: np.ndarray) -> float:
    """Return the sum of a function of the elements of long rows."""
    flat = [x.reshape(-1) for x in arrays]
    if flat[0].nbytes < 8 * WINDOW:
        return float(f(*(x.astype(np.float64) for x in flat)).sum())
    each, windows = WINDOW // flat[0].itemsize, flat[0].nbytes // WINDOW
    parts = [
        (slice(0, each), 1),
        (slice(each, 2 * each), windows - 2),
        (slice((windows - 1) * each, None), 1),
    ]
    return sum(n * float(f(*(x[at].astype(np.float64) for x in flat)).sum()) for at, n in parts)
