"""Arguments of JAX that are no plain arrays and numbers, and calls that fail behind the kernel.

python jax_arguments.py
"""

import contextlib
from importlib import import_module
from typing import Any

import numpy as np

# Partly untyped.
jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
np_ops: Any = import_module("opcast_numpy")
ops: Any = import_module("opcast_jax")
backend: Any = import_module("opcast_backend")

X, WEIGHT = jnp.ones((2, 4)), jnp.ones(4)
IMAGE, FILTER = jnp.ones((1, 1, 4, 4)), jnp.ones((1, 1, 2, 2))


class Parameter:
    """Stands for an array, as parameters of Flax do."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __jax_array__(self) -> Any:
        """Return the array."""
        return self.value


def refused(call: Any, want: str) -> None:
    """Expect a TypeError with a text."""
    try:
        call()
    except TypeError as error:
        assert str(error) == want, f"got  {error}\nwant {want}"
    else:
        raise AssertionError(f"not refused: {want}")


def parameters() -> None:
    """Pass objects that stand for arrays, plainly, traced and differentiated."""

    def call(weight: Any) -> Any:
        return ops.rms_norm(X, Parameter(weight)).sum()

    want = ops.rms_norm(X, WEIGHT).sum()
    assert call(WEIGHT) == jax.jit(call)(WEIGHT) == want

    def plain(weight: Any) -> Any:
        return ops.rms_norm(X, weight).sum()

    assert (jax.grad(call)(WEIGHT) == jax.grad(plain)(WEIGHT)).all()
    refused(
        lambda: ops.rms_norm(X, Parameter([1.0])),
        "rms_norm: weight: expected jax.Array, got list",
    )
    refused(lambda: ops.rms_norm(X, (1.0,)), "rms_norm: weight: expected jax.Array, got tuple")


def attributes() -> None:
    """Pass arrays in the place of attributes: the error says what to pass instead."""
    number = "pass what its item() returns"
    fixed = (
        "attributes are fixed before JAX traces, so pass a Python value (jax.jit: static_argnames)"
    )

    def normed(eps: Any) -> Any:
        return ops.rms_norm(X, WEIGHT, eps=eps)

    def filtered(stride: Any) -> Any:
        return ops.conv2d(IMAGE, FILTER, stride=stride)

    refused(
        lambda: ops.rms_norm(X, WEIGHT, eps=jnp.float32(1)),
        f"rms_norm: eps: expected float, got ArrayImpl: {number}",
    )
    host = np.ones((2, 4), np.float32)
    refused(
        lambda: np_ops.rms_norm(host, host[0], eps=np.array(1.0)),
        f"rms_norm: eps: expected float, got ndarray: {number}",
    )
    refused(
        lambda: jax.jit(normed)(1e-6),
        f"rms_norm: eps: expected float, got DynamicJaxprTracer: {fixed}",
    )
    refused(
        lambda: ops.conv2d(IMAGE, FILTER, groups=jnp.int32(1)),
        f"conv2d: groups: expected int, got ArrayImpl: {number}",
    )
    refused(
        lambda: ops.conv2d(IMAGE, FILTER, stride=(jnp.int32(1), 1)),
        f"conv2d: stride: expected 2 integers, got ArrayImpl: {number}",
    )
    refused(
        lambda: ops.conv2d(IMAGE, FILTER, stride=jnp.array([1, 1])),
        "conv2d: stride: expected 2 integers, got ArrayImpl: pass what its tolist() returns",
    )
    refused(
        lambda: jax.jit(filtered)(jnp.array([1, 1])),
        f"conv2d: stride: expected 2 integers, got DynamicJaxprTracer: {fixed}",
    )
    refused(
        lambda: ops.conv2d(IMAGE, FILTER, groups=np.float32(1)),
        "conv2d: groups: expected int, got float32",
    )


def once() -> None:
    """Let JAX find fault with what a kernel wrote: the op makes no second call of the kernel to learn what is wrong."""
    calls: list[Any] = []

    def kernel(y: Any, x: Any, _weight: Any, eps: float) -> None:
        calls.append(eps)
        y[...] = x * np.nan

    def plain(x: Any, weight: Any) -> Any:
        return ops._ops.rms_norm._call(x, weight, 1e-6)

    counts: list[int] = []
    for call in (ops.rms_norm, plain):
        calls.clear()
        with backend.register_kernel("rms_norm", kernel, name="nan"), jax.debug_nans(True):
            try:
                with contextlib.redirect_stdout(None):  # where JAX says what it does
                    jax.block_until_ready(call(X, WEIGHT))
            except FloatingPointError:
                counts.append(len(calls))
    assert len(counts) == 2 and counts[0] == counts[1] > 0, counts


parameters()
attributes()
once()
print("ok")
