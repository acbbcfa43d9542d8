"""Gradients: an op has that which its gradient op computes, and a gradient op has none.

A call becomes a node in the graph of gradients in two ways. A plain one makes it itself, around the
generated functions (``node``). All others get theirs where PyTorch makes those of its own
ops: below the key for autograd of the registered op (``register``), whichever level of torch.func
or compiler that is for.
"""

from __future__ import annotations

import contextlib
import operator
from typing import TYPE_CHECKING, Any

import torch
from torch._functorch.utils import enable_single_level_autograd_function

from ._collection import backend
from ._state import below_autograd, bump, functorch, has_tangent, native, wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_autograd: Any = torch.autograd


class Link:
    """How the gradient op of an op gets its arguments, and what becomes of its results."""

    def __init__(self, info: Any) -> None:
        self.gradient = backend.ops()[info.backward]
        inputs, outputs = [a.name for a in info.inputs], [a.name for a in info.outputs]
        arguments = inputs + [a.name for a in info.attrs]
        grads = ["grad_" + name for name in outputs]
        wanted = [a.name for a in self.gradient.inputs]
        kept = [name for name in wanted if name in inputs + outputs]
        self.attrs = [a.name for a in self.gradient.attrs]
        # A node has the arguments, then the outputs; later the gradients, then what it kept of them.
        self.keep = _pick(arguments + outputs, kept)
        self.keep_attrs = _pick(arguments, self.attrs)
        self.operands = _pick(kept + grads, wanted)
        made = [a.name for a in self.gradient.outputs]
        found = ["grad_" + name for name in inputs]
        self.results = [made.index(name) if name in made else -1 for name in found]
        self.rest = (None,) * len(info.attrs)

    def save(self, ctx: Any, args: tuple[Any, ...], made: tuple[Any, ...]) -> None:
        """Keep what the gradient op needs of a call."""
        ctx.save_for_backward(*self.keep((*args, *made)))
        ctx.attrs = self.keep_attrs(args)

    def differentiate(self, call: Any, ctx: Any, grads: tuple[Any, ...], lead: int) -> Any:
        """Call the gradient op; return a gradient for every argument, with some in front."""
        returned = call(self.operands((*ctx.saved_tensors, *grads)), ctx.attrs)
        made: tuple[Any, ...] = backend.as_tuple(returned) or ()
        found = [made[i] if i >= 0 else None for i in self.results]
        return needed(ctx, *(None,) * lead, *found, *self.rest)


def _pick(names: Sequence[str], wanted: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that takes the items with the wanted names out of a tuple."""
    places = [names.index(name) for name in wanted]
    first = places[0] if places else 0
    if places == list(range(first, first + len(places))):
        return operator.itemgetter(slice(first, first + len(places)))
    return operator.itemgetter(*places)


def refusal(info: Any) -> NotImplementedError:
    """Build the error for a gradient that does not exist."""
    if info.gradient_of:
        text = f"{info.gradient_of} has a first derivative only"
    else:
        text = "call it under torch.no_grad() or detach the inputs"
    return NotImplementedError(f"{info.name}: no gradient is defined: {text}")


def _node(name: str, base: Any, forward: Any, backward: Any) -> Any:
    """Return a node whose name in graphs is that of the op."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (base,), methods)


def node(name: str, forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    """Return the function that makes plain calls which are nodes, of an op's two functions."""
    made = _node(name, _autograd.Function, forward, backward)
    # Function.apply itself looks for defaults and transformations, which a plain call has not.
    return native._FunctionBase.__dict__["apply"].__get__(None, made)


def last_node(info: Any, compute: Callable[..., Any]) -> Any:
    """Return the same for an op without a gradient: only asking for one fails."""

    def forward(_: Any, *args: Any) -> Any:
        return compute(*args)

    def backward(*_: Any) -> Any:
        raise refusal(info)

    return node(info.name, forward, backward)


def needed(ctx: Any, *grads: Any) -> tuple[Any, ...]:
    """Return the gradients of a node's arguments, for those that need one."""
    return tuple([x if needs else None for x, needs in zip(grads, ctx.needs_input_grad)])


def register(overload: Any, library: Any) -> None:
    """Register what an op does for autograd."""
    info, overwritten = overload.info, overload.overwritten
    nodes = None if overwritten or not (info.backward or info.gradient_of) else _nodes(overload)

    def autograd(keys: Any, *args: Any) -> Any:
        if has_tangent(args):
            text = "no forward-mode derivative is defined: use reverse mode"
            raise NotImplementedError(f"{info.name}: {text}")
        if not wanted(args):
            with below_autograd():
                return overload.call.redispatch(keys & native._after_autograd_keyset, *args)
        if nodes is None:
            raise refusal(info)
        if functorch() is None:
            return nodes[0].apply(keys, *args)
        with enable_single_level_autograd_function():
            return nodes[1].apply(keys, *args)

    def written(keys: Any, *args: Any) -> Any:
        bump([args[i] for i in overwritten])
        return overload.call.redispatch(keys & native._after_ADInplaceOrView_keyset, *args)

    library.impl(overload.name, autograd, "Autograd", with_keyset=True)
    if overwritten:
        library.impl(overload.name, written, "ADInplaceOrView", with_keyset=True)


@contextlib.contextmanager
def _next_level() -> Any:
    """Let the next level of torch.func, or autograd below all of them, see gradients.

    A node turns them off while it computes its result, for its own level only.
    """
    with torch.enable_grad(), _autograd.forward_ad._set_fwd_grad_enabled(True):
        yield


def _nodes(overload: Any) -> tuple[Any, ...]:
    """Return the node of an overload for autograd, and that for one level of torch.func."""
    info, namespace = overload.info, getattr(torch.ops, overload.call.namespace)
    packet = getattr(namespace, info.name)
    link = Link(info) if info.backward else None
    saving = any(a.saved for a in info.outputs)
    count = len(overload.outputs)

    def forward(ctx: Any, keys: Any, *args: Any) -> Any:
        call = packet.train if saving else packet.default
        with below_autograd() if functorch() is None else _next_level():
            returned = call.redispatch(keys & native._after_autograd_keyset, *args)
        made: tuple[Any, ...] = backend.as_tuple(returned) or ()
        if link is not None:
            link.save(ctx, args, made)
        ctx.mark_non_differentiable(*[x for a, x in zip(info.outputs, made) if a.saved][:count])
        return made[0] if count == 1 else made[:count]

    def differentiate(inputs: Any, attrs: Any) -> Any:
        return getattr(namespace, info.backward).default(*inputs, *attrs)

    def backward(ctx: Any, *grads: Any) -> Any:
        if link is None:
            raise refusal(info)
        return link.differentiate(differentiate, ctx, grads, 1)

    bases = _autograd.Function, _autograd.function._SingleLevelFunction
    return tuple([_node(info.name, base, forward, backward) for base in bases])
