"""Call ops through op_call with arrays of unknown frameworks, on the CPU and on a GPU that is not there."""

from __future__ import annotations

import contextlib
import sys
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import opcast_backend as backend
import opcast_numpy as ops
import tvm_ffi

op_call: Any = backend.op_call
a = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
b = np.ones((4, 4), np.float32)
frozen = b.copy()
frozen.flags.writeable = False


def fresh() -> Any:
    """Return memory for a result."""
    return np.full((4, 4), np.nan, np.float32)


def same(got: Any, want: Any) -> None:
    """Expect equal bits."""
    assert got.tobytes() == want.tobytes(), (got, want)


def refused(text: str, *args: Any) -> None:
    """Expect a ValueError of this text."""
    try:
        op_call(*args)
    except ValueError as error:
        assert str(error) == text, error
    else:
        raise AssertionError(f"nothing was raised: {text}")


class Foreign:
    """An array of a framework that nobody has heard of, perhaps on a GPU that is not there."""

    def __init__(self, array: Any, device: int = 1, old: bool = False) -> None:
        self.array, self.device, self.old = array, device, old
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return what the array says of its device."""
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        """Export the memory, which is the CPU's, as a capsule of either version."""
        if self.old and "max_version" in options:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.streams.append(options.pop("stream", None))
        return self.array.__dlpack__(**options)


out = fresh()
op_call("gemm", [Foreign(a), Foreign(b, old=True)], [Foreign(out)])
same(out, ops.gemm(a, b))
refused(
    "gemm: c: expected writable memory, got a read-only array",
    "gemm",
    [a, b],
    [Foreign(frozen)],
)

# Inputs of other frameworks are exported for the stream of the call, and outputs have to be of the leader's. No GPU is
# needed to see which stream that is: these arrays only say that they are on one.
reads, leads = Foreign(a, device=2), Foreign(fresh(), device=2)
op_call("eltwise_relu", [reads], [leads])
same(leads.array, ops.eltwise_relu(a))
assert (reads.streams, leads.streams) == ([1], [1])  # the default stream, as DLPack numbers it


class Led(Foreign):
    """An array that passes for one of CuPy, which has a current stream."""

    dtype = a.dtype
    seen: ClassVar[list[int]] = []

    def __dlpack__(self, **options: Any) -> Any:
        """Export the memory and note on which stream the call will run."""
        self.seen.append(tvm_ffi.get_raw_stream(tvm_ffi.device("cuda", 0)))
        return super().__dlpack__(**options)


Led.__module__ = "cupy"
current = SimpleNamespace(ptr=0x1230)
cuda = SimpleNamespace(Device=contextlib.nullcontext, get_current_stream=lambda: current)
sys.modules["cupy"] = SimpleNamespace(cuda=cuda)  # pyright: ignore[reportArgumentType]
reads, leads = Foreign(a, device=2), Led(fresh(), device=2)
op_call("eltwise_relu", [reads], [leads])
same(leads.array, ops.eltwise_relu(a))
assert (reads.streams, leads.streams, Led.seen) == ([0x1230], [-1], [0x1230])
assert tvm_ffi.get_raw_stream(tvm_ffi.device("cuda", 0)) == 0  # as before the call
refused(
    "layernorm2d: mean: expected an array of the framework that leads, got Foreign",
    "layernorm2d",
    [a, b[0], b[1]],
    [Led(fresh(), 2), Foreign(b[0], 2), Foreign(b[1], 2)],
)
op_call("eltwise_relu", [reads], [out])  # devices that differ are for the library to refuse
same(out, ops.eltwise_relu(a))
