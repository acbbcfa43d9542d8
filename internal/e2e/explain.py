"""Ask the backend about calls with arrays of every framework; what is said must be what happens."""

from typing import Any

import jax.numpy
import numpy as np
import opcast_backend
import torch

_torch: Any = torch
_jnp: Any = jax.numpy


def copies(op: str, *args: Any, **named: Any) -> str:
    """Return what is said about copies."""
    lines = opcast_backend.explain(op, *args, **named).splitlines()
    return next(line for line in lines if line.startswith("copies")).split(maxsplit=1)[1]


def refusal(*args: Any, **named: Any) -> str:
    """Return the error of a question that makes no sense."""
    try:
        opcast_backend.explain(*args, **named)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{args} {named}: no error")


def expect(got: str, want: str) -> None:
    """Compare two texts."""
    assert got == want, f"{got!r}, want {want!r}"


a, b = np.zeros((4, 8), np.float32), np.zeros((5, 8), np.float32)
bias = np.zeros(10, np.float32)
bytes_ = np.zeros(a.nbytes + 1, np.uint8)
last, dense = "its last dimension is not contiguous", "it is not contiguous"

expect(copies("gemm", a, b[::2], alpha=2), "none")
expect(copies("gemm", a.T.copy().T, b, bias[::2]), f"a ({last}), bias ({dense})")
expect(copies("gemm", b=b[:, ::-1], a=a, bias=None), f"b ({last})")
expect(copies("gemm", a.astype(">f4"), b), "a (its byte order is not native)")
expect(copies("gemm", bytes_[1:].view(np.float32).reshape(4, 8), b), "a (it is not aligned)")
expect(copies("gemm", torch.zeros(8, 4).T, torch.zeros(5, 16)[:, :8]), f"a ({last})")
expect(copies("gemm", _jnp.zeros((8, 4)).T, _jnp.zeros((5, 8))), "none")
lazy = _torch._neg_view(torch.zeros(4, 8))
expect(
    copies("rms_norm", lazy, torch.zeros(16)[::2]),
    f"x (it is a lazily negated view), weight ({dense})",
)
columns = _torch.zeros(4, 16).split(8, 1)
expect(copies("fused_add_rms_norm", *columns, torch.zeros(8)), "none")  # overwritten where they lie

expect(refusal("nope"), "ValueError: nope: expected an op of opcast, got an unknown name")
expect(refusal("gemm", [1]), "TypeError: gemm: a: expected an array, got list")
expect(refusal("gemm", a, b, bias, a), "TypeError: gemm: expected at most 3 arrays, got 4")
expect(refusal("gemm", a, beta=1), "TypeError: gemm: unexpected argument 'beta'")
expect(refusal("gemm", a, a=a), "TypeError: gemm: unexpected argument 'a'")
for op in opcast_backend.ops():
    print(opcast_backend.explain(op))
