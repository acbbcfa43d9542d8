"""The lines of JAX."""

from __future__ import annotations

from typing import Any

import jax
import opcast_jax
from peers import jax_peers
from row import Row
from statement import Call

_CHAIN = 101  # ops in the longer of the two jitted functions whose difference is taken
_jax: Any = jax


def rows(x: Any, weight: Any) -> list[Row]:
    """Return the lines."""
    ours: Any = opcast_jax.rms_norm
    names = {"x": _jax.numpy.asarray(x), "weight": _jax.numpy.asarray(weight)}
    peer, inner = "jax: jax-tvm-ffi under jit", "jax: jax-tvm-ffi, per op inside a jit"
    by_hand = "jax: XLA FFI handler by hand"
    return [
        Row("jax: opcast under jit", _call(_jax.jit(ours), names), peer),
        Row(peer, _call(_jax.jit(jax_peers.rms_norm), names)),
        Row(by_hand, _call(_jax.jit(jax_peers.rms_norm_by_hand), names), peer),
        Row("jax: opcast, not under jit", _call(ours, names), peer),
        Row("jax: native operations under jit", _call(_jax.jit(jax_peers.native), names), peer),
        Row("jax: opcast, per op inside a jit", _chain(ours, names), inner),
        Row(inner, _chain(jax_peers.rms_norm, names)),
        Row(f"{by_hand}, per op inside a jit", _chain(jax_peers.rms_norm_by_hand, names), inner),
        *_gradients(names["x"]),
    ]


def _call(f: Any, names: dict[str, Any]) -> Call:
    return Call("f(x, weight).block_until_ready()", {"f": f, **names})


def _chain(f: Any, names: dict[str, Any]) -> Call:
    def repeated(x: Any, weight: Any, count: int) -> Any:
        for _ in range(count):
            x = f(x, weight)
        return x

    jitted = _jax.jit(repeated, static_argnums=2)
    code = "f(x, weight, count).block_until_ready()"
    short = Call(code, {"f": jitted, "count": 1, **names})
    long = {"f": jitted, "count": _CHAIN, **names}
    return Call(code, long, per=_CHAIN - 1, less=short)


def _gradients(x: Any) -> list[Row]:
    """Return the lines of the gradient of silu_and_mul, which calls both kernels.

    Not of rms_norm: jax-tvm-ffi cannot leave out the scratch of its gradient function.
    """
    peer = "jax gradient: jax-tvm-ffi, custom_vjp"

    def call(f: Any) -> Call:
        def gradient(x: Any, grad: Any) -> Any:
            y, back = _jax.vjp(f, x)
            return y, *back(grad)

        names = {"x": _jax.numpy.concatenate([x, x], -1), "grad": x}
        return Call("f(x, grad)[1].block_until_ready()", {"f": _jax.jit(gradient), **names})

    return [
        Row("jax gradient: opcast", call(opcast_jax.silu_and_mul), peer),
        Row(peer, call(jax_peers.silu_and_mul)),
        Row("jax gradient: native operations", call(jax_peers.native_silu_and_mul), peer),
    ]
