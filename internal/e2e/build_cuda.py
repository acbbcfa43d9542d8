"""Call the demo's op on the CPU and on a GPU of a kind, which this machine may not have."""

import ctypes
import importlib
import sys
from typing import Any

import numpy as np
import tvm_ffi
from tvm_ffi import DLDeviceType


class DLTensor(ctypes.Structure):
    """The tensor of the DLPack convention."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Managed(ctypes.Structure):
    """A tensor with its owner: nobody."""

    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


new_capsule: Any = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


KIND = DLDeviceType.kDLROCM if sys.argv[1:] == ["rocm"] else DLDeviceType.kDLCUDA


class OnGPU:
    """Four float32 at an address that no device knows."""

    def __init__(self, address: int) -> None:
        self.shape = (ctypes.c_int64 * 1)(4)
        self.strides = (ctypes.c_int64 * 1)(1)
        tensor = DLTensor(address, int(KIND), 0, 1, 2, 32, 1, self.shape, self.strides, 0)
        self.managed = Managed(tensor, None, None)

    def __dlpack__(self, **_: Any) -> Any:
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self) -> "tuple[int, int]":
        return (int(KIND), 0)


made: Any = importlib.import_module("demo_numpy")
backend: Any = importlib.import_module("demo_backend")
tvm: Any = tvm_ffi  # partly untyped
print(made.scale(np.arange(4, dtype=np.float32)))
tensors = [OnGPU(0x10000000), OnGPU(0x20000000)]
module = tvm.load_module(str(backend.library_path()))
try:
    module["scale"](*[tvm.from_dlpack(t) for t in tensors])
except (RuntimeError, ValueError, NotImplementedError) as error:
    print(f"{type(error).__name__}: {error}")
else:
    print("it ran")
