"""The lines of the overhead table: rms_norm of x[4, 16] in float32, by us and by others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import opcast_jax
import opcast_numpy
import opcast_torch
import torch
from peers import extension, jax_peers, torch_peers
from stopwatch import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SHAPE = (4, 16)
_CHAIN = 101  # ops in the longer of the two jitted functions whose difference is taken
_jax: Any = jax


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Parameters
    ----------
    what
        What is called.
    call
        How.
    peer
        The line it is compared with, or an empty string.
    budget
        The largest ratio to the peer that is accepted, or None for the peers themselves.
    function, arguments
        The generated function whose fast path explains the time.

    """

    what: str
    call: Call
    peer: str = ""
    budget: float | None = None
    function: Callable[..., Any] | None = None
    arguments: Mapping[str, Any] | None = None


def rows() -> list[Row]:
    """Return all lines; compiles the peers if they are not."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(SHAPE, np.float32)
    weight = rng.standard_normal(SHAPE[1:], np.float32)
    return _torch_rows(x, weight) + _jax_rows(x, weight) + _numpy_rows(x, weight)


def _torch_rows(x: Any, weight: Any) -> list[Row]:
    module = extension.load()
    ours: Any = opcast_torch.rms_norm
    names = {"x": torch.tensor(x), "weight": torch.tensor(weight)}
    made = {**names, "y": torch.empty(SHAPE), "eps": 1e-6}
    native: Any = torch.nn.functional.rms_norm
    registered: Any = torch.ops.opcast_bench.rms_norm
    peer = "torch: C++ TORCH_LIBRARY op"

    def row(what: str, f: Any, code: str = "f(x, weight)", **more: Any) -> Row:
        call = Call(code, {"f": f, **made}, per=more.pop("per", 1))
        return Row(what, call, more.pop("peer", peer), **more)

    arguments = {**names, "eps": 1e-6, "out": None}
    return [
        row("torch: opcast", ours, budget=1.0, function=ours, arguments=arguments),
        row(peer, registered.default, peer=""),
        row("torch: C++ TORCH_LIBRARY op, not .default", registered),
        row("torch: pybind11 function", module.rms_norm),
        row("torch: torch.library.custom_op", torch_peers.custom_op),
        row("torch: F.rms_norm", native, "f(x, (16,), weight, 1e-6)"),
        row("torch: bare tvm-ffi, output given", torch_peers.kernel, "f(y, x, weight, eps)"),
        row(
            "torch: the exported function, from C++", module.repeat, "f(y, x, weight, 100)", per=100
        ),
    ]


def _jax_rows(x: Any, weight: Any) -> list[Row]:
    ours: Any = opcast_jax.rms_norm
    names = {"x": _jax.numpy.asarray(x), "weight": _jax.numpy.asarray(weight)}
    peer, inner = "jax: jax-tvm-ffi under jit", "jax: jax-tvm-ffi, per op inside a jit"

    def call(f: Any) -> Call:
        return Call("f(x, weight).block_until_ready()", {"f": f, **names})

    def chain(f: Any) -> Call:
        def repeated(x: Any, weight: Any, count: int) -> Any:
            for _ in range(count):
                x = f(x, weight)
            return x

        jitted = _jax.jit(repeated, static_argnums=2)
        code = "f(x, weight, count).block_until_ready()"
        short = Call(code, {"f": jitted, "count": 1, **names})
        long = {"f": jitted, "count": _CHAIN, **names}
        return Call(code, long, per=_CHAIN - 1, less=short)

    arguments = {**names, "eps": 1e-6}
    return [
        Row("jax: opcast under jit", call(_jax.jit(ours)), peer, 1.0),
        Row(peer, call(_jax.jit(jax_peers.rms_norm))),
        Row("jax: opcast, not under jit", call(ours), peer, function=ours, arguments=arguments),
        Row("jax: native operations under jit", call(_jax.jit(jax_peers.native)), peer),
        Row("jax: opcast, per op inside a jit", chain(ours), inner, 1.0),
        Row(inner, chain(jax_peers.rms_norm)),
    ]


def _numpy_rows(x: Any, weight: Any) -> list[Row]:
    ours: Any = opcast_numpy.rms_norm
    names = {"x": x, "weight": weight}
    made = {**names, "y": np.empty_like(x), "eps": 1e-6}
    bare = {"f": torch_peers.kernel, **made}
    native = "x / sqrt(mean(x * x, axis=-1, keepdims=True) + eps) * weight"
    peer = "numpy: bare tvm-ffi, output given"
    arguments = {**names, "eps": 1e-6, "out": None}
    own = Call("f(x, weight)", {"f": ours, **names})
    return [
        Row("numpy: opcast", own, peer, 1.6, ours, arguments),
        Row(peer, Call("f(y, x, weight, eps)", bare)),
        Row("numpy: opcast, out=", Call("f(x, weight, out=y)", {"f": ours, **made}), peer),
        Row("numpy: native", Call(native, {"sqrt": np.sqrt, "mean": np.mean, **made}), peer),
    ]
