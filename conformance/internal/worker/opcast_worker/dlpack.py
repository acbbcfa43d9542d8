"""DLPack tensors built by hand: any dtype, strides, offset, device and data pointer."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from opcast_worker.gpu_memory import Buffer

CPU, CUDA, ROCM = 1, 2, 10
KINDS = {"cpu": CPU, "cuda": CUDA, "rocm": ROCM}
INT64S = ctypes.POINTER(ctypes.c_int64)


def placed(device: str) -> tuple[int, int]:
    """Return DLPack's type and id of the first device of a kind, such as "cuda:0"."""
    return KINDS[device.partition(":")[0]], 0


def named(device: tuple[int, int]) -> str:
    """Return the name of a device of DLPack's."""
    kind = next(name for name, number in KINDS.items() if number == device[0])
    return kind if device[0] == CPU else f"{kind}:{device[1]}"


class Device(ctypes.Structure):
    """DLDevice."""

    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class DataType(ctypes.Structure):
    """DLDataType."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", INT64S),
        ("strides", INT64S),
        ("byte_offset", ctypes.c_uint64),
    )


class Managed(ctypes.Structure):
    """DLManagedTensor."""


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


# Exporters by the address of their structure, one entry for each tensor that is in use: JAX lets go of one after it has
# let go of the array.
_in_use: dict[int, list[Any]] = {}
_lock = threading.RLock()


def _release(managed: Any) -> None:
    """Forget one use; the memory itself belongs to the exporting object."""
    address = ctypes.addressof(managed.contents)
    with _lock:
        uses = _in_use[address]
        last = uses.pop()  # whose memory holds the structure
        if not uses:
            del _in_use[address]
    del last


RELEASE = DELETER(_release)

# A prototype of our own: what hangs at ctypes.pythonapi is everybody's, and other packages set other types there.
new_capsule: Any = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


class Array:
    """An exporter over a buffer, which stays referenced.

    Shape, strides and offset are in elements. The dtype has DLPack's type code and number of bits, the device its
    type and id; ``memory`` is the copy of the buffer on the device, if that is where the elements are.
    """

    moved = False
    """Whether pointers are moved to the first element, as frameworks do, in the place of an offset beside them."""

    def __init__(
        self,
        data: bytearray,
        dtype: tuple[int, int],
        shape: list[int],
        strides: list[int],
        offset: int,
        device: tuple[int, int],
        memory: Buffer | None = None,
    ) -> None:
        """Fill the structure in."""
        self.data, self.dtype, self.device, self.memory = data, dtype, device, memory
        self.shape, self.strides, self.offset = shape, strides, offset
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(data)) if data else 0
        if memory is not None and data:
            self.address = memory.pointer.value
        self.managed = Managed()
        tensor = self.managed.tensor
        tensor.data = self.address
        tensor.device = Device(*device)
        tensor.ndim = len(shape)
        tensor.dtype = DataType(*dtype, 1)
        self.lists = [(ctypes.c_int64 * max(len(v), 1))(*v) for v in (shape, strides)]
        tensor.shape, tensor.strides = (ctypes.cast(v, INT64S) for v in self.lists)
        start = offset * dtype[1] // 8
        tensor.byte_offset = 0 if self.moved else start
        if self.moved and data:
            tensor.data = self.address + start
        self.managed.deleter = RELEASE

    def __dlpack__(self, **_: Any) -> Any:
        """Export the tensor."""
        address = ctypes.addressof(self.managed)
        with _lock:
            _in_use.setdefault(address, []).append(self)
        return new_capsule(address, b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and id."""
        return self.device

    def like(self, shape: list[int] | None = None, strides: list[int] | None = None) -> Array:
        """Return an array over the same memory with another shape or other strides."""
        shape = self.shape if shape is None else shape
        strides = self.strides if strides is None else strides
        return Array(self.data, self.dtype, shape, strides, self.offset, self.device, self.memory)

    def without_memory(self) -> Array:
        """Return the same array with a null pointer."""
        copy = self.like()
        copy.managed.tensor.data = None
        return copy

    def contents(self) -> bytes | bytearray:
        """Return the bytes of the buffer as they are now."""
        return self.data if self.memory is None else self.memory.read()

    def span(self) -> tuple[int, int]:
        """Return the first address of the elements and the one after their last."""
        size = self.dtype[1] // 8
        low = high = self.address + self.offset * size
        if 0 in self.shape:
            return low, low
        for n, step in zip(self.shape, self.strides):
            low += min(step * (n - 1), 0) * size
            high += max(step * (n - 1), 0) * size
        return low, high + size
