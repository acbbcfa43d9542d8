"""The peer for JAX: rms_norm registered with jax-tvm-ffi, around the same function."""

from __future__ import annotations

from importlib import import_module  # the package has no types
from typing import Any

import jax
import numpy as np
import opcast_backend

_NAME = "opcast_bench.rms_norm"
_kernel: Any = opcast_backend.function("rms_norm", opcast_backend.ops()["rms_norm"].schema)
_jax: Any = jax
_register: Any = import_module("jax_tvm_ffi").register_ffi_target
_register(_NAME, _kernel, ["rets", "args", "attrs.eps"], platform="cpu")


def rms_norm(x: Any, weight: Any, eps: float = 1e-6) -> Any:
    """Call the function through jax-tvm-ffi."""
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    call = _jax.ffi.ffi_call(_NAME, result, vmap_method="sequential")
    return call(x, weight, eps=np.float64(eps))


def native(x: Any, weight: Any, eps: float = 1e-6) -> Any:
    """Compute the same with operations of JAX."""
    jnp = _jax.numpy
    return x * _jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + eps) * weight
