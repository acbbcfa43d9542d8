"""How the ops that compute derivatives of an op get their arguments, and what becomes of their results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._collection import backend


class Link:
    """How the gradient op of an op gets its arguments, and what becomes of its results."""

    def __init__(self, info: Any) -> None:
        self.gradient = backend.ops()[info.backward]
        inputs, outputs = [a.name for a in info.inputs], [a.name for a in info.outputs]
        arguments = inputs + [a.name for a in info.attrs]
        grads = [info.grad_prefix + name for name in outputs]
        wanted = [a.name for a in self.gradient.inputs]
        kept = [name for name in wanted if name in inputs + outputs]
        self.attrs = [a.name for a in self.gradient.attrs]
        # A node has the arguments, then the outputs; later the gradients, then what it kept of them.
        self.keep = _pick(arguments + outputs, kept)
        self.keep_attrs = _pick(arguments, self.attrs)
        self.operands = _pick(kept + grads, wanted)
        made = [a.name for a in self.gradient.outputs]
        found = [info.grad_prefix + name for name in inputs]
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


class Push:
    """How the op of tangents of an op gets its arguments, and what becomes of its results."""

    def __init__(self, info: Any) -> None:
        tangent = backend.ops()[info.forward]
        self.inputs, outputs = [a.name for a in info.inputs], [a.name for a in info.outputs]
        self.arguments = self.inputs + [a.name for a in info.attrs]
        moving = [info.tangent_prefix + name for name in self.inputs]
        self.operands = _pick(
            [*self.arguments, *outputs, *moving], [a.name for a in tangent.inputs]
        )
        self.attrs = _pick(self.arguments, [a.name for a in tangent.attrs])
        made = [a.name for a in tangent.outputs]
        found = [info.tangent_prefix + a.name for a in info.outputs if not a.saved]
        self.saved = sum(a.saved for a in info.outputs)
        self.results = [made.index(name) if name in made else -1 for name in found]

    def tangents(self, call: Any, values: tuple[Any, ...], moved: Any) -> tuple[Any, ...]:
        """Return the tangents of the results of a call: its arguments and outputs, and their tangents."""
        inputs = values[: len(self.inputs)]
        moved = [
            torch.zeros_like(x) if t is None and x is not None else t for x, t in zip(inputs, moved)
        ]
        given = self.operands((*values, *moved))
        made = backend.as_tuple(call(given, self.attrs(values))) or ()
        found = [made[i] if i >= 0 else None for i in self.results]
        # No op computes tangents of what is saved, but the gradient op is to refuse them, not to miss them.
        found += [torch.zeros_like(x) for x in values[len(values) - self.saved :]]
        return tuple(found)


def _pick(names: Sequence[str], wanted: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that takes the items with the wanted names out of a tuple."""
    places = [names.index(name) for name in wanted]
    first = places[0] if places else 0
    if places == list(range(first, first + len(places))):
        return operator.itemgetter(slice(first, first + len(places)))
    return operator.itemgetter(*places)


def needed(ctx: Any, *grads: Any) -> tuple[Any, ...]:
    """Return the gradients of a node's arguments, for those that need one."""
    return tuple([x if needs else None for x, needs in zip(grads, ctx.needs_input_grad)])
