"""Derivatives: an op has those which the ops compute that its definition names for them.

A call becomes a node in the graph of gradients in two ways. A plain one makes it itself, around the
generated functions (``node``). All others get theirs where PyTorch makes those of its own
ops: below the key for autograd of the registered op (``register``), whichever level of torch.func
or compiler that is for. So do tangents, of which plain calls have none.

The gradient of an input that was broadcast has the shape of the results here. PyTorch's engine sums
what a node returns to the shape of the argument, numbers of 16 bits in float32.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import has_torch_function

from .._collection import backend
from ._framework import refusal
from ._links import Link, Push
from ._private import (
    SingleLevelFunction,
    after_autograd,
    after_views,
    below_autograd,
    compiles,
    functorch,
    single_level,
    tangents_on,
)
from ._state import bump, has_tangent, tracing, wanted

_autograd: Any = torch.autograd


def _node(name: str, base: Any, forward: Any, backward: Any, jvp: Any = None) -> Any:
    """Return a node whose name in graphs is that of the op."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    if jvp is not None:
        methods["jvp"] = staticmethod(jvp)
    return type(name, (base,), methods)


def node(
    name: str,
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    general: Callable[..., Any],
    returned: int = 0,
) -> Any:
    """Return the function that makes calls which are nodes, of an op's two functions.

    general makes the calls of which torch.jit.trace or a subclass is to see the op itself: a node is in
    the way. returned is the number of results where a node has more, which are saved for the gradient.
    """
    apply = _node(name, _autograd.Function, forward, backward).apply

    def call(*args: Any) -> Any:
        if tracing() or has_torch_function(args):
            return general(*args)
        return _first(apply(*args), returned) if returned else apply(*args)

    return call


def last_node(info: Any, compute: Callable[..., Any], general: Callable[..., Any]) -> Any:
    """Return the same for an op without a gradient: only asking for one fails."""

    def forward(_: Any, *args: Any) -> Any:
        made = compute(*args)
        return made[0] if len(made) == 1 else made

    def backward(*_: Any) -> Any:
        raise refusal(info)

    return node(info.name, forward, backward, general)


def differentiated(info: Any, backward: Callable[..., Any], lead: int = 0) -> Callable[..., Any]:
    """Return the function that differentiates a node of an op, after a refusal of what it has no gradient for.

    lead is the number of arguments in front of the op's.
    """
    places = _constant(info)
    if not places:
        return backward

    def refusing(ctx: Any, *grads: Any) -> Any:
        for i in places:
            if ctx.needs_input_grad[lead + i]:
                raise refusal(info, info.inputs[i].name)
        return backward(ctx, *grads)

    return refusing


def _constant(info: Any) -> list[int]:
    """Return the places of the inputs by which there is no derivative."""
    return [i for i, a in enumerate(info.inputs) if a.name in info.no_grad]


def register(overload: Any, library: Any) -> None:
    """Register what an op does for autograd."""
    info, overwritten = overload.info, overload.overwritten
    reverse = bool(info.backward or info.derived_from)
    constant = _constant(info)
    nodes: tuple[Any, ...] = _nodes(overload) if reverse or info.forward else (None, None)

    def autograd(keys: Any, *args: Any) -> Any:
        moved, followed = has_tangent(args), wanted(args)
        if moved and not info.forward:
            raise _no_tangent(info)
        for i in constant if moved else ():
            if has_tangent((args[i],)):
                raise _no_tangent(info, info.inputs[i].name)
        if not moved and not followed:
            with below_autograd() if functorch() is None else _every_level():
                return _computed(overload, keys, args)
        if followed and not reverse:
            raise refusal(info)
        if functorch() is None:
            made = nodes[0].apply((keys, moved), *args)
        else:
            with single_level():
                made = nodes[1].apply((keys, moved), *args)
        return _first(made, len(overload.outputs))

    def written(keys: Any, *args: Any) -> Any:
        try:
            return overload.call.redispatch(after_views(keys), *args)
        finally:
            bump([args[i] for i in overwritten if args[i] is not None])

    def with_class(keys: Any, *args: Any) -> Any:
        try:
            return autograd(keys, *args)
        except RuntimeError as fault:
            backend.reraise(fault)
            raise

    library.impl(overload.qualified, with_class, "Autograd", with_keyset=True)
    if overwritten:
        library.impl(overload.qualified, written, "ADInplaceOrView", with_keyset=True)


def _computed(overload: Any, keys: Any, args: tuple[Any, ...]) -> Any:
    """Call an overload below autograd."""
    if overload.compiled is not None and functorch() is None and compiles():
        return overload.compiled(*args)
    return overload.call.redispatch(after_autograd(keys), *args)


def _first(made: Any, count: int) -> Any:
    """Return so many of the results of a node, a single one bare."""
    results: tuple[Any, ...] = backend.as_tuple(made) or ()
    if len(results) <= count:
        return made
    return results[0] if count == 1 else results[:count]


def _no_tangent(info: Any, name: str = "") -> NotImplementedError:
    where, advice = f"{info.name}: {name}", "detach the inputs"
    if not name:
        more = ", or name an op of tangents in its definition" if info.derived_from else ""
        where, advice = info.name, f"use reverse mode{more}"
    return NotImplementedError(f"{where}: no forward-mode derivative is defined: {advice}")


@contextlib.contextmanager
def _every_level() -> Any:
    """Call below autograd, and let the next level of torch.func see tangents."""
    with below_autograd(), tangents_on():
        yield


@contextlib.contextmanager
def _next_level() -> Any:
    """Let the next level of torch.func, or autograd below all of them, see gradients.

    A node turns them off while it computes its result, for its own level only.
    """
    with torch.enable_grad(), tangents_on():
        yield


def _registered(namespace: Any, name: str) -> Callable[[Any, Any], Any]:
    """Return a function that calls the registered form of an op."""

    def call(inputs: Any, attrs: Any) -> Any:
        return getattr(namespace, name).default(*inputs, *attrs)

    return call


def _without(absent: list[bool], tensors: Any) -> tuple[Any, ...]:
    return tuple([None if gone else x for gone, x in zip(absent, tensors)])


def _nodes(overload: Any) -> tuple[Any, ...]:
    """Return the node of an overload for autograd, and that for one level of torch.func."""
    info, namespace = overload.info, getattr(torch.ops, overload.call.namespace)
    link = Link(info) if info.backward else None
    push: Any = Push(info) if info.forward else None
    absent, public = info.absent(), sum(not a.saved for a in info.outputs)
    differentiate = _registered(namespace, info.backward)
    move = _registered(namespace, info.forward)

    def forward(ctx: Any, state: Any, *args: Any) -> Any:
        keys, moved = state
        with below_autograd() if functorch() is None else _next_level():
            returned = _computed(overload.saving, keys, args)
        made: tuple[Any, ...] = backend.as_tuple(returned) or ()
        ctx.absent = absent(args)
        known = _without(ctx.absent, made)
        if link is not None:
            link.save(ctx, args, known)
        if moved:
            ctx.values = (*args, *known)
            ctx.still = [
                torch.zeros_like(y) if gone and (y.is_floating_point() or y.is_complex()) else None
                for y, gone in zip(made, ctx.absent)
            ]
        return made[0] if len(made) == 1 else made

    def backward(ctx: Any, *grads: Any) -> Any:
        if link is None:
            raise refusal(info)
        return link.differentiate(differentiate, ctx, _without(ctx.absent, grads)[:public], 1)

    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        values, ctx.values = ctx.values, None
        found = push.tangents(move, values, tangents)
        # PyTorch wants a tangent of the empty tensor, too, that stands for an absent output.
        found = tuple([x if t is None else t for x, t in zip(found, ctx.still)])
        return found[0] if len(found) == 1 else found

    backward = differentiated(info, backward, 1)
    bases = _autograd.Function, SingleLevelFunction
    return tuple(
        [_node(info.name, base, forward, backward, jvp if push else None) for base in bases]
    )
