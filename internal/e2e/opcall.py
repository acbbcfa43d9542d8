"""Call ops through op_call with arrays of every framework, mixed ones too, and with wrong ones."""

from __future__ import annotations

from typing import Any

import jax.numpy
import ml_dtypes
import numpy as np
import opcast_backend as backend
import opcast_numpy as ops
import torch as pytorch
import tvm_ffi
from opcast_backend import OpKind

# Partly untyped, or called against their types.
torch: Any = pytorch
jnp: Any = jax.numpy
op_call: Any = backend.op_call
done: list[str] = []


def same(got: Any, want: Any) -> None:
    """Expect equal bits."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, (got, want)
    assert got.tobytes() == want.tobytes(), (got, want)
    done.append("same")


def fails(text: str, *args: Any) -> None:
    """Expect an error of just this class and text; a text that ends in "..." may go on."""
    try:
        op_call(*args)
    except Exception as error:
        shown = f"{type(error).__name__}: {error}"
        assert shown == text or (text.endswith("...") and shown.startswith(text[:-3])), shown
    else:
        raise AssertionError(f"nothing was raised: {text}")
    done.append(text)


rng = np.random.default_rng(0)
a, b = (rng.standard_normal((4, 4)).astype(np.float32) for _ in range(2))
product = ops.gemm(a, b)
frozen = b.copy()
frozen.flags.writeable = False


def fresh() -> Any:
    """Return memory for a product."""
    return np.full((4, 4), np.nan, np.float32)


# One framework or several; inputs may be read-only.
for left, right in (
    (a, b),
    (torch.from_numpy(a), torch.from_numpy(b)),
    (torch.from_numpy(a), jnp.asarray(b)),
    (jnp.asarray(a), frozen),
    (tvm_ffi.from_dlpack(a), torch.nn.Parameter(torch.from_numpy(b))),
):
    for out in (fresh(), torch.from_numpy(fresh())):
        op_call(OpKind.Gemm, inputs=[left, right], outputs=[out], attrs={})
        same(out, product)

# The kind as a number or a name; optional inputs; attributes of the frameworks' types.
out = fresh()
op_call(np.int64(2), (a, b, None), (out,))
same(out, product)
op_call("gemm", [a, b, b[0]], [out], {"alpha": np.float32(0.5), "activation": "relu"})
same(out, ops.gemm(a, b, b[0], alpha=0.5, activation="relu"))
for dtype in ("float16", np.float16, np.dtype("f2"), torch.float16, jnp.float16):
    half = np.empty((4, 4), np.float16)
    op_call("gemm", [a, b], [half], {"out_dtype": dtype, "alpha": 1})
    same(half, ops.gemm(a, b, out_dtype="float16"))
image, filters = a.reshape(1, 1, 4, 4), b[:3, :3].copy().reshape(1, 1, 3, 3)
for stride in (1, (1, 1), [1, 1], np.array([1, 1], np.int32), np.int64(1)):
    out = np.empty((1, 1, 2, 2), np.float32)
    op_call(OpKind.Conv2d, [image, filters], [out], {"stride": stride})
    same(out, ops.conv2d(image, filters))

# The dtypes of ml_dtypes, in NumPy, PyTorch and JAX.
small = a.astype(ml_dtypes.bfloat16)
for x in (small, torch.from_numpy(a).bfloat16(), jnp.asarray(small)):
    out = np.empty((4, 4), ml_dtypes.bfloat16)
    op_call("eltwise_relu", [x], [out])
    same(out, ops.eltwise_relu(small))

# Overwritten inputs; PyTorch is told that they are.
x, residual, weight = (torch.from_numpy(v.copy()) for v in (a, b, b[0]))
version = x._version
op_call("fused_add_rms_norm", [x, residual, weight])
want = ops.fused_add_rms_norm(a.copy(), b.copy(), b[0])
same(x, want[0])
same(residual, want[1])
assert x._version > version

# Outputs that only the gradient needs.
mean, rstd = np.empty(4, np.float32), np.empty(4, np.float32)
op_call("layernorm2d", [a, b[0], b[1]], [fresh(), mean, rstd], {"eps": 0})
assert np.allclose(mean, a.mean(axis=1), atol=1e-6)
assert np.allclose(rstd, 1 / a.std(axis=1), rtol=1e-5)

# Scratch that is left out is allocated, and so is none that a kernel does not want.
nope = rng.standard_normal((300, 448)).astype(ml_dtypes.float8_e4m3fn)
q, rope = (rng.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((2, 3, 512), (300, 64)))
scale, indptr = np.ones((300, 7), np.float32), np.array([0, 120, 300], np.int32)
cache: list[Any] = [q, nope, rope, scale, indptr]
want = ops.flash_mla_decode(*cache)
for scratch in (None, [], [None, np.full((4, 2, 3), np.nan, np.float32)]):
    results = [np.empty((2, 3, 512), ml_dtypes.bfloat16), np.empty((2, 3), np.float32)]
    op_call(OpKind.FlashMlaDecode, cache, results, None, scratch)
    same(results[0], want[0])
    same(results[1], want[1])

# No gradient flows, and none is asked for.
tracked = torch.from_numpy(a.copy()).requires_grad_()
out = torch.from_numpy(fresh())
op_call("gemm", [tracked, b], [out])
same(out, product)
assert not out.requires_grad


# A compiled function leaves its graph for the call.
@torch.compile(backend="eager")
def compiled(x: Any) -> Any:
    """Call an op between two operations of PyTorch."""
    out = torch.empty_like(x)
    op_call("eltwise_relu", [x - 1], [out])
    return out + 1


for v in (-3.0, 2.0, 5.0):
    same(compiled(torch.full((4, 4), v)), torch.full((4, 4), max(v, 1.0)))

# What cannot be written or read where it lies.
torch_a = torch.from_numpy(a.copy())
negated = torch.view_as_complex(torch.from_numpy(a.copy()).reshape(4, 2, 2)).conj().imag
fails(
    "ValueError: gemm: c: expected writable memory, got a read-only array", "gemm", [a, b], [frozen]
)
fails(
    "ValueError: gemm: c: expected writable memory, got an array of JAX",
    "gemm",
    [a, b],
    [jnp.asarray(a)],
)
fails(
    "ValueError: gemm: c: expected no gradient to flow, got requires_grad",
    "gemm",
    [a, b],
    [tracked],
)
fails(
    "ValueError: gemm: c: expected memory apart from a, got overlapping memory", "gemm", [a, b], [a]
)
fails(
    "ValueError: gemm: a: expected native byte order, got dtype >f4",
    "gemm",
    [a.astype(">f4"), b],
    [out],
)
fails(
    "ValueError: eltwise_relu: x: expected contiguous memory, got strides [1, 4]",
    "eltwise_relu",
    [a.T],
    [out],
)
fails(
    "ValueError: eltwise_relu: x: expected plain memory, got a lazily negated view",
    "eltwise_relu",
    [negated],
    [out],
)
fails(
    "ValueError: gemm: a: expected a dense tensor, got layout torch.sparse_coo",
    "gemm",
    [torch_a.to_sparse(), b],
    [out],
)
fails(
    "TypeError: gemm: a: expected DLPack tensor, got Tensor (...",
    "gemm",
    [torch_a.to("meta"), b],
    [out],
)
fails(
    "TypeError: gemm: a: expected DLPack tensor, got MaskedArray",
    "gemm",
    [np.ma.array(a), b],
    [out],
)
fails(
    "TypeError: gemm: a: expected DLPack tensor, got ndarray (...",
    "gemm",
    [a.astype(object), b],
    [out],
)
fails("TypeError: gemm: a: expected DLPack tensor, got list", "gemm", [[1.0, 2.0], b], [out])
fails("TypeError: gemm: a: expected DLPack tensor, got str", "gemm", ["a", b], [out])
fails(
    "TypeError: gemm: a: expected dtype float32, float16 or bfloat16, got int8",
    "gemm",
    [a.astype(np.int8), b],
    [out],
)
for name in ("float8_e5m2", "float8_e4m3fn"):
    fails(
        f"TypeError: gemm: a: expected dtype float32, float16 or bfloat16, got {name}",
        "gemm",
        [a.astype(getattr(ml_dtypes, name)), b],
        [out],
    )

# What is wrong with the call.
fails("ValueError: op_call: kind: expected the number or name of an op, got 999", 999, [a])
fails("ValueError: op_call: kind: expected the number or name of an op, got 'gem'", "gem", [a])
fails("TypeError: op_call: kind: expected the number or name of an op, got bool", True, [a])
fails("TypeError: op_call: inputs: expected a list or tuple, got ndarray", "gemm", a, [out])
fails("TypeError: op_call: attrs: expected a mapping, got list", "gemm", [a, b], [out], [1])
fails("TypeError: gemm: inputs: expected at most 3 arrays, got 4", "gemm", [a, b, None, a], [out])
fails("TypeError: gemm: missing required argument 'b'", "gemm", [a], [out])
fails("TypeError: gemm: missing required argument 'c'", "gemm", [a, b])
fails("TypeError: gemm: attrs: expected str, got int", "gemm", [a, b], [out], {1: 1})
fails(
    "TypeError: gemm: alpha: expected float, got NoneType", "gemm", [a, b], [out], {"alpha": None}
)
fails(
    "TypeError: gemm: out_dtype: expected dtype float32, float16 or bfloat16, got float",
    "gemm",
    [a, b],
    [out],
    {"out_dtype": 1.5},
)
fails(
    "TypeError: gemm: c: expected dtype float16 (as out_dtype), got float32",
    "gemm",
    [a, b],
    [out],
    {"out_dtype": torch.half},
)
fails("TypeError: gelu: missing required argument 'approximate'", "gelu", [a], [out])
fails(
    "TypeError: conv2d: stride: expected 2 integers, got float",
    "conv2d",
    [image, filters],
    [out],
    {"stride": (1, 1.0)},
)
fails(
    "ValueError: conv2d: stride: expected 2 integers, got 3",
    "conv2d",
    [image, filters],
    [out],
    {"stride": (1, 1, 1)},
)

print(f"ok {len(done)} checks")
