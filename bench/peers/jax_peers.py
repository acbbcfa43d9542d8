"""The peer for JAX: rms_norm registered with jax-tvm-ffi, around the same functions."""

from __future__ import annotations

from importlib import import_module  # the package has no types
from typing import Any

import jax
import numpy as np
import opcast_backend

_jax: Any = jax
_register: Any = import_module("jax_tvm_ffi").register_ffi_target


def _target(op: str) -> str:
    function = opcast_backend.function(op, opcast_backend.ops()[op].schema)
    _register(f"opcast_bench.{op}", function, ["rets", "args", "attrs.eps"], platform="cpu")
    return f"opcast_bench.{op}"


_FORWARD, _BACKWARD = _target("rms_norm"), _target("rms_norm_backward")


def rms_norm(x: Any, weight: Any, eps: float = 1e-6) -> Any:
    """Call the function through jax-tvm-ffi."""
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    call = _jax.ffi.ffi_call(_FORWARD, result, vmap_method="sequential")
    return call(x, weight, eps=np.float64(eps))


@_jax.custom_vjp
def differentiable(x: Any, weight: Any) -> Any:
    """Call the function so that gradients go through its gradient function."""
    return rms_norm(x, weight)


def _keep(x: Any, weight: Any) -> Any:
    return rms_norm(x, weight), (x, weight)


def _gradient(kept: Any, grad_y: Any) -> Any:
    results = tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in kept)
    call = _jax.ffi.ffi_call(_BACKWARD, results, vmap_method="sequential")
    return call(grad_y, *kept, eps=np.float64(1e-6))


differentiable.defvjp(_keep, _gradient)


def native(x: Any, weight: Any, eps: float = 1e-6) -> Any:
    """Compute the same with operations of JAX."""
    jnp = _jax.numpy
    return x * _jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + eps) * weight
