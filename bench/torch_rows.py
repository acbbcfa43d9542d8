"""The lines of PyTorch."""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any

import opcast_torch
import opcast_torch.layers as opcast_torch_layers
import torch
from peers import extension, torch_peers
from row import SHAPE, Row
from statement import Call

_torch: Any = torch
_PEER = "torch: C++ TORCH_LIBRARY op"
_WRAPPED = "torch: C++ TORCH_LIBRARY op, behind the same wrapper"
_CHAIN = 32  # calls in a compiled graph


def rows(x: Any, weight: Any) -> list[Row]:
    """Return the lines."""
    names = {"x": _torch.tensor(x), "weight": _torch.tensor(weight)}
    wide = {"x": _torch.cat([names["x"], names["x"]], -1)}
    norms = {
        "autograd.Function": torch_peers.rms_norm,
        "torch.library.custom_op": torch_peers.custom_op,
        "F.rms_norm": torch_peers.native_rms_norm,
    }
    gates = {
        "autograd.Function": torch_peers.silu_and_mul,
        "torch.library.custom_op": torch_peers.custom_silu_and_mul,
        "F.silu(gate) * value": torch_peers.native_silu_and_mul,
    }
    return [
        *_calls(names),
        *_compiled(names),
        *_watched(names),
        *_layers(names),
        *_gradients("rms_norm", names, norms),
        *_gradients("silu_and_mul", wide, gates),
    ]


def _calls(names: dict[str, Any]) -> list[Row]:
    module = extension.load()
    extension.load_stable()
    ours: Any = opcast_torch.rms_norm
    made = {**names, "y": _torch.empty(SHAPE), "eps": 1e-6}
    registered: Any = _torch.ops.opcast_bench.rms_norm

    def row(what: str, f: Any, code: str = "f(x, weight)", **more: Any) -> Row:
        call = Call(code, {"f": f, **made}, per=more.pop("per", 1))
        return Row(what, call, more.pop("peer", _PEER), **more)

    native, repeat = _torch.nn.functional.rms_norm, "f(y, x, weight, 100)"
    return [
        row("torch: opcast", ours, peer=_WRAPPED),
        row(_WRAPPED, _behind(ours, registered.default)),
        row(_PEER, registered.default, peer=""),
        row("torch: C++ TORCH_LIBRARY op, not .default", registered),
        row("torch: C++ op of the stable ABI", _torch.ops.opcast_bench_stable.rms_norm.default),
        row("torch: pybind11 function", module.rms_norm),
        row("torch: torch.library.custom_op", torch_peers.custom_op),
        row("torch: F.rms_norm", native, "f(x, (16,), weight, 1e-6)"),
        row("torch: bare tvm-ffi, output given", torch_peers.kernel, "f(y, x, weight, eps)"),
        row("torch: the exported function, from C++", module.repeat, repeat, per=100),
    ]


def _behind(ours: Any, overload: Any) -> Any:
    """Return a generated function that calls another registered op."""
    copy: Any = FunctionType(ours.__code__, {**ours.__globals__, "_direct": overload._op})
    copy.__kwdefaults__ = ours.__kwdefaults__
    return copy


def _compiled(names: dict[str, Any]) -> list[Row]:
    """Return the lines of a call in a graph of torch.compile that has several, each on the result of the last."""
    registered: Any = _torch.ops.opcast_bench.rms_norm
    _torch.library.register_fake("opcast_bench::rms_norm", torch_peers.like_first)

    def chain(f: Any) -> Any:
        def calls(x: Any, weight: Any) -> Any:
            for _ in range(_CHAIN):
                x = f(x, weight)
            return x

        return _torch.compile(calls, fullgraph=True)

    def call(f: Any) -> Call:
        return Call("f(x, weight)", {"f": f, **names}, per=_CHAIN)

    peer = "torch.compile, per call: C++ TORCH_LIBRARY op"
    ours = call(chain(opcast_torch.rms_norm))
    theirs = call(chain(partial(_positional, registered.default)))
    return [
        Row("torch.compile, per call: opcast", ours, peer),
        Row(peer, theirs),
    ]


def _positional(f: Any, x: Any, weight: Any) -> Any:
    return f(x, weight, 1e-6)


def _watched(names: dict[str, Any]) -> list[Row]:
    """Return the lines of calls that a mode or a profiler sees."""
    registered: Any = _torch.ops.opcast_bench.rms_norm
    ours: Any = opcast_torch.rms_norm
    both = {"opcast": ours, "C++ TORCH_LIBRARY op": _behind(ours, registered.default)}
    ways = {
        "a dispatch mode": ("with Mode():", {"Mode": torch_peers.Mode}),
        "the profiler": ("with profile():", {"profile": _torch.autograd.profiler.profile}),
    }
    rows: list[Row] = []
    for way, (head, more) in ways.items():
        code = f"{head}\n    for _ in range(100): f(x, weight)"
        calls = [Call(code, {"f": f, **names, **more}, per=100) for f in both.values()]
        whats = [f"torch, under {way}: {who}" for who in both]
        rows.append(Row(whats[0], calls[0], whats[1]))
        rows.append(Row(whats[1], calls[1]))
    return rows


def _layers(names: dict[str, Any]) -> list[Row]:
    """Return the lines of layers without gradients, as a model that serves calls them."""
    peer = "torch layer: nn.RMSNorm"
    both: Any = [
        module(SHAPE[-1], eps=1e-6) for module in (opcast_torch_layers.RMSNorm, _torch.nn.RMSNorm)
    ]
    calls = [Call("f(x)", {"f": f.requires_grad_(False), "x": names["x"]}) for f in both]
    return [Row("torch layer: opcast RMSNorm", calls[0], peer), Row(peer, calls[1])]


def _gradients(op: str, names: dict[str, Any], peers: dict[str, Any]) -> list[Row]:
    """Return the lines of a result and the gradients of all inputs."""
    ours: Any = vars(opcast_torch)[op]
    leaves = {name: value.clone().requires_grad_() for name, value in names.items()}
    inputs = ", ".join(names)
    result = ours(*names.values())
    common = {**leaves, "grad": _torch.autograd.grad, "g": _torch.ones_like(result)}
    code = f"grad(f({inputs}), ({inputs},), g)"
    first, *others = [f"torch fwd + bwd {op}: {what}" for what in peers]
    calls = [Call(code, {"f": f, **common}) for f in (ours, *peers.values())]
    return [
        Row(f"torch fwd + bwd {op}: opcast", calls[0], first),
        Row(first, calls[1]),
        *(Row(what, call, first) for what, call in zip(others, calls[2:])),
    ]
