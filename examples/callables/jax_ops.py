"""JAX's own functions, called as the definitions in opdefs/ say.

JAX has no RMS norm and no layer norm: the latter is its ``standardize``, with scale and shift; the former is what
models in JAX write.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def rms_norm(x: Array, weight: Array, *, eps: float = 1e-6) -> Array:
    """Compute in float32 and round once, as models do."""
    wide = x.astype(jnp.float32)
    scale = jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + eps)
    return (wide * scale * weight.astype(jnp.float32)).astype(x.dtype)


def layer_norm(x: Array, weight: Array, bias: Array, *, eps: float = 1e-5) -> Array:
    """Call jax.nn.standardize over the last axis, then scale and shift."""
    return jax.nn.standardize(x, axis=-1, epsilon=eps) * weight + bias


def softmax(x: Array) -> Array:
    """Call jax.nn.softmax over the last axis."""
    return jax.nn.softmax(x, axis=-1)


def gelu(x: Array, *, approximate: str) -> Array:
    """Call jax.nn.gelu, whose default is the approximation."""
    return jax.nn.gelu(x, approximate=approximate == "tanh")


def silu(x: Array) -> Array:
    """Call jax.nn.silu."""
    return jax.nn.silu(x)
