"""Derivatives: a call of which a gradient may be asked for is a node of PaddlePaddle's graph of gradients.

The node calls the op that the definition names for the gradient. What differs from PyTorch's nodes:

- Nothing sums the gradient of an input that was broadcast, and no gradient may be returned for a
  tensor that needs none.
- A node that keeps its own results is never freed unless a backward pass goes through it. So it keeps
  tensors over their memory that are no part of the graph; for a gradient of the gradient, the results
  are computed again.
- Nothing notices that a kept tensor was overwritten, except what is said here.
- An exception of a node reaches the user as an OSError that quotes its class and text.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import paddle
from paddle import Tensor
from paddle.autograd import PyLayer

from .._collection import backend
from ._framework import DTYPES


def wanted(inputs: Sequence[Any]) -> bool:
    """Whether a gradient may be asked for."""
    return paddle.is_grad_enabled() and any(_flows(x) for x in inputs)


def _flows(x: Any) -> bool:
    return isinstance(x, Tensor) and not x.stop_gradient and x.dtype in _SMOOTH


def refusal(info: backend.Op, name: str = "") -> NotImplementedError:
    """Build the error for a gradient that does not exist, by the input with a name or by any."""
    if info.gradient_of:
        text = f"{info.gradient_of} has a first derivative only"
    elif info.tangent_of:
        text = f"the tangents of {info.tangent_of} have none"
    else:
        text = "call it under paddle.no_grad() or detach the inputs"
    where = f"{info.name}: {name}" if name else info.name
    return NotImplementedError(f"{where}: no gradient is defined: {text}")


class Node:
    """The node of an op.

    ``compute`` computes all outputs, those that only the gradient needs too, of inputs and attributes;
    ``differentiate`` calls the gradient op.
    """

    def __init__(
        self, info: backend.Op, compute: Callable[..., Any], differentiate: Callable[..., Any]
    ) -> None:
        self.info, self._compute, self._differentiate = info, compute, differentiate
        self._inputs = [a.name for a in info.inputs]
        self._outputs = [a.name for a in info.outputs]
        gradient = backend.ops()[info.backward] if info.backward else None
        self._wanted = [a.name for a in gradient.inputs] if gradient else []
        self._attrs = [a.name for a in gradient.attrs] if gradient else []
        self._made = [info.grad_prefix + name for name in self._inputs]
        self._results = [a.name for a in gradient.outputs] if gradient else []
        # Whether a result is kept: then all inputs are, to compute it again.
        self._again = any(name in self._outputs for name in self._wanted)
        methods = {"forward": staticmethod(self._forward), "backward": staticmethod(self._backward)}
        self._apply: Any = type(PyLayer)(info.name, (PyLayer,), methods).apply

    def __call__(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return all outputs, as parts of the graph."""
        return backend.as_tuple(self._apply(attrs, *inputs)) or ()

    def _forward(self, ctx: Any, attrs: Any, *inputs: Any) -> Any:
        made = self._compute(inputs, attrs)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[x for x in made if x is not None and x.dtype not in _SMOOTH])
        ctx.attrs, ctx.place = attrs, inputs[0].place
        ctx.given = [None if x is None else (tuple(x.shape), _flows(x)) for x in inputs]
        ctx.made = [None if x is None else (x.shape, x.dtype) for x in made]
        kept = {n: x for n, x in zip(self._inputs, inputs) if self._again or n in self._wanted}
        for name, x in zip(self._outputs, made):
            if name in self._wanted:
                kept[name] = None if x is None else x.detach()
        _keep(ctx, kept)
        return made[0] if len(made) == 1 else made

    def _backward(self, ctx: Any, *grads: Any) -> Any:
        info = self.info
        if not info.backward:
            raise refusal(info)
        for a, given in zip(info.inputs, ctx.given):
            if given and given[1] and a.name in info.no_grad:
                raise refusal(info, a.name)
        values = _kept(ctx, info.name)
        if self._again and paddle.is_grad_enabled():
            again = self(tuple([values[name] for name in self._inputs]), ctx.attrs)
            values.update(zip(self._outputs, again))
        arrived = iter(grads)  # of the results that there are
        for a, like in zip(info.outputs, ctx.made):
            grad = None if like is None else next(arrived)
            if grad is None and like is not None and like[1] in _SMOOTH:  # it takes no part
                grad = paddle.zeros(like[0], dtype=like[1], device=ctx.place)
            values.setdefault(info.grad_prefix + a.name, grad)
        attrs = {a.name: v for a, v in zip(info.attrs, ctx.attrs)}
        made = self._differentiate(
            tuple([values[name] for name in self._wanted]),
            tuple([attrs[name] for name in self._attrs]),
        )
        found = dict(zip(self._results, backend.as_tuple(made) or ()))
        returned = [
            _summed(found[name], a, given[0]) if given[1] and name in found else None
            for name, a, given in zip(self._made, info.inputs, ctx.given)
            if given is not None
        ]
        return returned[0] if len(returned) == 1 else tuple(returned)


_SMOOTH = {d for name, d in DTYPES.items() if "float" in name or "complex" in name}


def _keep(ctx: Any, named: dict[str, Any]) -> None:
    """Keep tensors, in the way that PaddlePaddle's hooks for saved tensors see; some may be None."""
    there = {name: x for name, x in named.items() if x is not None}
    ctx.save_for_backward(*there.values())
    ctx.absent = [name for name, x in named.items() if x is None]
    ctx.kept = {name: (id(x), x.inplace_version) for name, x in there.items()}


def _kept(ctx: Any, op: str) -> dict[str, Any]:
    """Return them, if they are as they were. What a hook made in the place of one is no longer it."""
    values: dict[str, Any] = dict.fromkeys(ctx.absent)
    for (name, (identity, version)), x in zip(ctx.kept.items(), ctx.saved_tensor()):
        if id(x) == identity and x.inplace_version != version:
            text = "a tensor that the gradient needs was modified by an inplace operation"
            raise RuntimeError(f"{op}: {name}: {text}")
        values[name] = x
    return values


def _summed(grad: Any, a: backend.Arg, shape: tuple[int, ...]) -> Any:
    """Return a gradient, summed along the dims that the input was broadcast to, 16 bits in float32."""
    axes: tuple[int, ...] = ()
    if "..." in a.dims:
        axes = backend.spread_axes(shape, len(a.dims) - 1, tuple(grad.shape))
    if not axes:
        return grad
    wide = grad.astype("float32") if grad.element_size() < 4 else grad
    return wide.sum(axis=axes).reshape(shape).astype(grad.dtype)
