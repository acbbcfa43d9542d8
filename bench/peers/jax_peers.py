"""The peers for JAX: the same functions registered with jax-tvm-ffi, and one by a handler in C++."""

from __future__ import annotations

from functools import cache
from importlib import import_module  # the package has no types
from typing import Any

import jax
import numpy as np
import opcast_backend

from . import extension

_jax: Any = jax
_register: Any = import_module("jax_tvm_ffi").register_ffi_target


def _target(op: str, *attrs: str) -> str:
    function = opcast_backend.function(op, opcast_backend.ops()[op].schema)
    _register(f"opcast_bench.{op}", function, ["rets", "args", *attrs], platform="cpu")
    return f"opcast_bench.{op}"


_RMS_NORM = _target("rms_norm", "attrs.eps")
_GATE, _GATE_GRADIENT = _target("silu_and_mul"), _target("silu_and_mul_backward")


def rms_norm(x: Any, weight: Any, eps: float = 1e-6) -> Any:
    """Call the function through jax-tvm-ffi."""
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    call = _jax.ffi.ffi_call(_RMS_NORM, result, vmap_method="sequential")
    return call(x, weight, eps=np.float64(eps))


@cache
def _handler() -> str:
    """Register the handler in rms_norm_xla.cc and return its name."""
    library = extension.load_xla(_jax.ffi.include_dir())
    capsule = _jax.ffi.pycapsule(library.opcast_bench_rms_norm)
    _jax.ffi.register_ffi_target("opcast_bench.xla", capsule, platform="cpu")
    return "opcast_bench.xla"


def rms_norm_by_hand(x: Any, weight: Any, eps: float = 1e-6) -> Any:
    """Call the function through a handler of XLA's FFI that is written by hand."""
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    call = _jax.ffi.ffi_call(_handler(), result, vmap_method="sequential")
    return call(x, weight, eps=np.float64(eps))


def native(x: Any, weight: Any, eps: float = 1e-6) -> Any:
    """Compute the same with operations of JAX."""
    jnp = _jax.numpy
    return x * _jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + eps) * weight


@_jax.custom_vjp
def silu_and_mul(x: Any) -> Any:
    """Call the function so that gradients go through its gradient function."""
    result = jax.ShapeDtypeStruct((*x.shape[:-1], x.shape[-1] // 2), x.dtype)
    return _jax.ffi.ffi_call(_GATE, result, vmap_method="sequential")(x)


def _keep(x: Any) -> Any:
    return silu_and_mul(x), x


def _gradient(x: Any, grad_y: Any) -> Any:
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return (_jax.ffi.ffi_call(_GATE_GRADIENT, result, vmap_method="sequential")(grad_y, x),)


silu_and_mul.defvjp(_keep, _gradient)


def native_silu_and_mul(x: Any) -> Any:
    """Compute the same with operations of JAX."""
    gate, value = _jax.numpy.split(x, 2, axis=-1)
    return _jax.nn.silu(gate) * value
