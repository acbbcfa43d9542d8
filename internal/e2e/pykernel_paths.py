"""Reach registered kernels on unusual ways: other frameworks and dtypes, given outputs, transformations."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import opcast_backend as backend
import opcast_jax
import opcast_numpy
import opcast_torch
from pykernel_callers import CALLERS, DTYPES, OwnError, expect, jax, jnp, torch


def frameworks() -> None:
    """Write kernels in PyTorch, and on tensors of tvm-ffi."""

    def in_torch(y: Any, x: Any, weight: Any, *, eps: float) -> None:
        assert type(y) is torch.Tensor and y.dtype == x.dtype
        torch.add(x, weight, out=y)

    def bare(y: Any, x: Any, weight: Any, *, eps: float) -> None:
        target: Any = np.from_dlpack(y)
        target = target if target.flags.writeable else torch.from_dlpack(y).numpy()
        np.add(np.from_dlpack(x), np.from_dlpack(weight), out=target)

    x, weight = np.full((2, 3), 4, "f4"), np.full(3, 5, "f4")
    with backend.register_kernel("rms_norm", in_torch, name="in_torch", framework="torch"):
        for name, call in CALLERS.items():
            for dtype in DTYPES:
                assert (call("rms_norm", x.astype(dtype), weight.astype(dtype)) == 9).all(), name
    with backend.register_kernel("rms_norm", bare, name="bare", framework="dlpack"):
        for name, call in CALLERS.items():
            assert (call("rms_norm", x, weight) == 9).all(), name


def fp8() -> None:
    """Get arrays of eight bits as those of ml_dtypes, and computed defaults as values."""
    seen: list[Any] = []

    def look(o: Any, lse: Any, *inputs: Any, sm_scale: float) -> None:
        seen.append((inputs[1].dtype, inputs[1].tolist()[0][:3], sm_scale))
        o[...], lse[...] = 3, 4

    kind = ml_dtypes.float8_e4m3fn
    q = np.zeros((1, 2, 512), ml_dtypes.bfloat16)
    cache = np.zeros((5, 448), kind)
    cache[0, :3] = 0.5, 1, 448
    rope, scale = np.zeros((5, 64), ml_dtypes.bfloat16), np.ones((5, 7), "f4")
    starts = np.array([0, 5], np.int32)
    arrays = (q, cache, rope, scale, starts)
    with backend.register_kernel("flash_mla_decode", look, name="look"):
        o, lse = opcast_numpy.flash_mla_decode(*arrays)
        assert (o == 3).all() and (lse == 4).all()
        o, lse = jax.jit(opcast_jax.flash_mla_decode)(*map(jnp.asarray, arrays))
        assert (o == 3).all() and (lse == 4).all()
    assert seen == [(np.dtype(kind), [0.5, 1, 448], 512**-0.5)] * 2, seen


def paths() -> None:
    """Get a kernel's own exception from every way to call an op, after one run."""
    x, weight, calls = np.ones((2, 3), "f4"), np.ones(3, "f4"), list[int]()
    wide = np.ones((2, 6), "f4")[:, ::2]
    half = ml_dtypes.bfloat16
    tensor, ones = torch.ones(2, 3), torch.ones(3)
    op: Any = opcast_torch.rms_norm

    def fail(*_: Any, **__: Any) -> None:
        calls.append(1)
        raise OwnError(1, "again")

    def total(t: Any) -> Any:
        return op(t, ones).sum()

    ways: dict[str, Callable[[], Any]] = {
        "bfloat16": lambda: opcast_numpy.rms_norm(x.astype(half), weight.astype(half)),
        "strided": lambda: opcast_numpy.rms_norm(wide, weight),
        "read-only": lambda: opcast_numpy.rms_norm(np.broadcast_to(x, (2, 3)), weight),
        "out": lambda: opcast_numpy.rms_norm(x, weight, out=np.empty_like(x)),
        "torch, strided": lambda: op(torch.ones(2, 6)[:, ::2], ones),
        "torch, out": lambda: op(tensor, ones, out=torch.empty(2, 3)),
        "torch, tracked": lambda: op(torch.ones(2, 3, requires_grad=True), ones),
        "torch, vmap": lambda: torch.vmap(op, (0, None))(torch.ones(4, 2, 3), ones),
        "torch, func.grad": lambda: torch.func.grad(total)(tensor),
        "torch, inductor": lambda: torch.compile(total, fullgraph=True)(tensor),
        "op_call": lambda: backend.op_call(backend.OpKind.RmsNorm, [x, weight], [np.empty_like(x)]),
    }
    with backend.register_kernel("rms_norm", fail, name="failing"):
        for way, call in ways.items():
            calls.clear()
            expect(OwnError, "again (1)", call)
            assert len(calls) == 1, way


for test in (frameworks, fp8, paths):
    test()
print("ok")
