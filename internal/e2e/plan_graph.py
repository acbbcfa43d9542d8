"""A plan and a run of it in graphs of the emulated device, replayed with other contents.

Prints how many arrays were compared.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
from typing import Any

import numpy as np
from opcast_worker.dlpack import Array
from opcast_worker.gpu_memory import driver_of

op_call: Any = importlib.import_module("plan_backend").op_call
tvm_ffi: Any = importlib.import_module("tvm_ffi")
driver = driver_of("cuda")
RELAXED, KEYS, HEADS, DEPTH, PIECES, BATCH = 2, 40, 2, 4, 6, 3
rng = np.random.default_rng(0)


class Placed:
    """An array of the device."""

    def __init__(self, x: np.ndarray) -> None:
        dtype = ({"f": 2, "i": 0}[x.dtype.kind], 8 * x.itemsize)
        steps = [step // x.itemsize for step in x.strides]
        self.like, self.memory = x, driver.buffer(x.tobytes())
        self.held = Array(
            bytearray(x.tobytes()), dtype, list(x.shape), steps, 0, (2, 0), self.memory
        )
        self.tensor = tvm_ffi.from_dlpack(self.held)

    def write(self, x: np.ndarray, stream: ctypes.c_void_p) -> None:
        """Give it other contents, in the order of a stream."""
        driver.buffer(x.tobytes()).copy_to(self.memory, stream)
        driver("cuStreamSynchronize", stream)

    def read(self) -> np.ndarray:
        """Return what it holds."""
        return np.frombuffer(self.held.contents(), self.like.dtype).reshape(self.like.shape)


def zeros(*shape: int, dtype: Any = np.float32) -> Placed:
    """Return zeros on the device."""
    return Placed(np.zeros(shape, dtype))


def lengths() -> np.ndarray:
    """Return where sequences of random lengths begin, and where the last ends."""
    return np.concatenate([[0], np.sort(rng.integers(0, KEYS + 1, BATCH - 1)), [KEYS]]).astype(
        np.int32
    )


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Return what the ops should give, without a plan."""
    result = np.zeros(q.shape)
    for b, (begin, end) in enumerate(itertools.pairwise(indptr)):
        if end > begin:
            scores = np.einsum("hd,nhd->hn", q[b], k[begin:end]) / DEPTH**0.5
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            result[b] = np.einsum(
                "hn,nhd->hd", weights / weights.sum(-1, keepdims=True), v[begin:end]
            )
    return result


stream = ctypes.c_void_p()
driver("cuStreamCreate", ctypes.byref(stream), 1)
indptr = Placed(lengths())
owners, ranges = zeros(PIECES + BATCH, dtype=np.int32), zeros(PIECES + BATCH, 2, dtype=np.int32)
q, k, v, o = (zeros(n, HEADS, DEPTH) for n in (BATCH, KEYS, KEYS, BATCH))
parts = zeros(PIECES + BATCH, HEADS, DEPTH + 2, dtype=np.float64)


def plan() -> None:
    """Cut the keys into pieces."""
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream.value):
        sizes = {"keys": KEYS, "pieces": PIECES}
        op_call("decode_plan", [indptr.tensor], [owners.tensor, ranges.tensor], sizes)


def run() -> None:
    """Attend by the plan."""
    arrays = [x.tensor for x in (q, k, v, owners, ranges)]
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream.value):
        op_call("decode_run", arrays, [o.tensor, None], {"pieces": PIECES}, [parts.tensor])


def captured(*calls: Any) -> ctypes.c_void_p:
    """Return a graph of calls."""
    graph, ready = ctypes.c_void_p(), ctypes.c_void_p()
    driver("cuStreamBeginCapture_v2", stream, RELAXED)
    for call in calls:
        call()
    driver("cuStreamEndCapture", stream, ctypes.byref(graph))
    driver("cuGraphInstantiateWithFlags", ctypes.byref(ready), graph, ctypes.c_ulonglong(0))
    return ready


def attends(graph: ctypes.c_void_p, plans: Any, layers: int) -> int:
    """Compare: one plan, then several calls with other queries and keys, as the layers of a model are."""
    begins = lengths()
    indptr.write(begins, stream)
    plans()
    for _ in range(layers):
        contents = [rng.standard_normal(x.like.shape).astype(np.float32) for x in (q, k, v)]
        for x, values in zip((q, k, v), contents):
            x.write(values, stream)
        driver("cuGraphLaunch", graph, stream)
        driver("cuStreamSynchronize", stream)
        want = attention(contents[0], contents[1], contents[2], begins)
        assert np.allclose(o.read(), want, 1e-5, 1e-6), f"got {o.read()}, want {want}"
    return layers


both, second = captured(plan, run), captured(run)
count = sum(attends(both, lambda: None, 1) for _ in range(4))
count += sum(attends(second, plan, 3) for _ in range(4))
count += attends(second, lambda: driver("cuGraphLaunch", captured(plan), stream), 3)
print(count)
