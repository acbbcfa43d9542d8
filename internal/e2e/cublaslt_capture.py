"""The first call by cuBLASLt, in a capture that forbids allocations: the handle is made all the same.

Prints what replaying the graph wrote.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np
from opcast_worker.dlpack import Array
from opcast_worker.gpu_memory import driver_of

backend: Any = importlib.import_module("emulated_backend")
tvm_ffi: Any = importlib.import_module("tvm_ffi")
module: Any = importlib.import_module("emulated_backend._library").module
driver = driver_of("cuda")
GLOBAL = 0


def placed(x: Any) -> Array:
    """Return an array of the device like one of NumPy."""
    data, steps = x.tobytes(), [step // x.itemsize for step in x.strides]
    dtype = (2, 32) if x.dtype == np.float32 else (1, 8)
    return Array(bytearray(data), dtype, list(x.shape), steps, 0, (2, 0), driver.buffer(data))


held = placed(np.zeros((2, 2), np.float32))
ones = np.ones((2, 4), np.float32)
arrays = [held, placed(ones), placed(2 * ones), placed(np.zeros(2**18, np.uint8))]
c, a, b, workspace = [tvm_ffi.from_dlpack(x) for x in arrays]
stream, graph, ready = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
driver("cuStreamCreate", ctypes.byref(stream), 1)
with backend.use_kernel("gemm", "gemm_cublaslt"):
    driver("cuStreamBeginCapture_v2", stream, GLOBAL)
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream.value):
        module["gemm"](c, a, b, None, 1.0, "none", workspace)
    driver("cuStreamEndCapture", stream, ctypes.byref(graph))
driver("cuGraphInstantiateWithFlags", ctypes.byref(ready), graph, ctypes.c_ulonglong(0))
driver("cuGraphLaunch", ready, stream)
driver("cuStreamSynchronize", stream)
print(np.frombuffer(held.contents(), np.float32).tolist())
