"""vmap: one call on a larger batch where the definition allows it, else a loop over slices."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._collection import backend
from ._framework import FRAMEWORK, empty


class _Mapping(NamedTuple):
    """A call that is mapped: axes has the mapped axis of every input, or None."""

    overload: Any
    size: int
    axes: tuple[Any, ...]
    inputs: tuple[Any, ...]
    attrs: tuple[Any, ...]


def rule(overload: Any) -> Any:
    """Return the function that torch.vmap calls for an op."""
    info = overload.info
    count = len(info.inputs)

    def mapped(batch: Any, axes: Any, *args: Any) -> Any:
        call = _Mapping(overload, batch.batch_size, axes[:count], args[:count], args[count:])
        for i in overload.overwritten:
            if axes[i] is None and args[i] is not None:
                text = "expected to be mapped too, since it is overwritten"
                raise ValueError(f"{info.name}: {info.inputs[i].name}: {text}")
        names = {a.name for a, axis in zip(info.inputs, axes) if axis is not None}
        for dim, having in info.vmap:
            if names <= set(having) and all(dim in a.dims for a in overload.outputs):
                return _merge(call, dim)
        return _loop(call) if call.size else _nothing(call)

    return mapped


_LEADING = ("*", "...")  # the names of leading dims, of which the mapped axis becomes one more


def _place(dims: tuple[str, ...], dim: str, rank: int) -> int:
    """Return where a dim stands in an array of a rank; several may stand for the leading one."""
    return 0 if dim in _LEADING else rank + dims.index(dim) - len(dims)


def _merge(call: _Mapping, dim: str) -> Any:
    """Make the mapped axis part of a dim that inputs and outputs share."""
    arguments: list[Any] = []
    written: list[tuple[Tensor, Tensor]] = []
    rank = _most_leading(call) if dim == "..." else 0
    for a, x, axis in zip(call.overload.info.inputs, call.inputs, call.axes):
        # What is broadcast anyway goes with one more leading dim of the others.
        if x is None or dim not in a.dims or (dim == "..." and axis is None):
            arguments.append(x)
            continue
        moved = x.expand(call.size, *x.shape) if axis is None else x.movedim(axis, 0)
        if dim == "...":
            missing = rank - (x.dim() - len(a.dims))
            moved = moved.reshape(call.size, *(1,) * missing, *moved.shape[1:])
        place = _place(a.dims, dim, x.dim() - (axis is not None))
        moved = moved.movedim(0, place)
        dense = moved.contiguous() if a.mutated else moved
        arguments.append(_fold(dense, dim, place))
        if dense is not moved:
            written.append((moved, arguments[-1]))
    made = backend.as_tuple(call.overload.call(*arguments, *call.attrs)) or ()
    for whole, copy in written:
        whole.copy_(copy.reshape(whole.shape))
    absent = call.overload.info.absent()((*call.inputs, *call.attrs))
    split = [
        (y, None) if gone else _split(call, dim, a, y)
        for a, y, gone in zip(call.overload.outputs, made, absent)
    ]
    return _results(call, split)


def _most_leading(call: _Mapping) -> int:
    """Return the number of broadcast leading dims of one slice."""
    given = zip(call.overload.info.inputs, call.inputs, call.axes)
    wide = [(a, x, axis) for a, x, axis in given if x is not None and "..." in a.dims]
    return max(x.dim() - (axis is not None) - len(a.dims) + 1 for a, x, axis in wide)


def _fold(x: Tensor, dim: str, place: int) -> Tensor:
    if dim in _LEADING:
        return x
    return x.reshape(*x.shape[:place], x.shape[place] * x.shape[place + 1], *x.shape[place + 2 :])


def _split(call: _Mapping, dim: str, a: Any, y: Tensor) -> tuple[Tensor, int | None]:
    """Return an output with its mapped axis."""
    place = _place(a.dims, dim, y.dim())
    if dim in _LEADING:
        return y, place
    size = y.shape[place] // call.size if call.size else _size(call, dim)
    return y.reshape(*y.shape[:place], call.size, size, *y.shape[place + 1 :]), place


def _size(call: _Mapping, dim: str) -> int:
    """Return a dim's size in one slice."""
    for a, x, axis in zip(call.overload.info.inputs, call.inputs, call.axes):
        if x is not None and dim in a.dims:
            shape = [n for i, n in enumerate(x.shape) if axis is None or i != axis % x.dim()]
            return shape[_place(a.dims, dim, len(shape))]
    raise LookupError(dim)


def _loop(call: _Mapping) -> Any:
    """Call the op on one slice after the other."""
    made: list[tuple[Any, ...]] = []
    for i in range(call.size):
        slices = [x if k is None else x.select(k, i) for x, k in zip(call.inputs, call.axes)]
        ready = list(slices)
        written = [j for j in call.overload.overwritten if slices[j] is not None]
        for j in written:
            ready[j] = slices[j].contiguous()
        made.append(backend.as_tuple(call.overload.call(*ready, *call.attrs)) or ())
        for j in written:
            if ready[j] is not slices[j]:
                slices[j].copy_(ready[j])
    return _results(call, [(torch.stack(ys), 0) for ys in zip(*made)])


def _nothing(call: _Mapping) -> Any:
    """Return the results of mapping over an axis without elements."""
    slices = [
        x if k is None else x.new_empty([n for i, n in enumerate(x.shape) if i != k % x.dim()])
        for x, k in zip(call.inputs, call.axes)
    ]
    specs, _ = call.overload.check(FRAMEWORK, *slices, *call.attrs)
    specs = [((0,), "float32") if s is None else ((0, *s[0]), s[1]) for s in specs]
    made = empty(call.overload.info.name, slices[0], specs[: len(call.overload.outputs)])
    return _results(call, [(y, 0) for y in made])


def _results(call: _Mapping, results: list[tuple[Any, Any]]) -> Any:
    """Return outputs and their mapped axes as torch.vmap takes them."""
    if len(call.overload.outputs) > 1:
        return tuple(y for y, _ in results), tuple(axis for _, axis in results)
    return results[0] if results else (None, None)
