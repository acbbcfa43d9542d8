"""``vmap`` of an op: merged into one call where its definition allows, else a loop over slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax

from ._arrays import respec, sharding_of, spec_of

if TYPE_CHECKING:
    from .._collection import backend
    from ._call import Call

_jax: Any = jax  # partly untyped


def batched(call: Call, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return run with the op's rule for ``vmap``."""
    op = _jax.custom_batching.custom_vmap(run)

    def rule(size: Any, mapped: Any, *arrays: Any) -> Any:
        names = {a.name for a, m in zip(call.inputs, mapped) if m}
        _refuse_unmapped(call, names)
        for dim, inputs in call.info.vmap:
            if names <= set(inputs):
                results = _merged(call, op, dim, (size, mapped, arrays))
                break
        else:
            results = _loop(op, mapped, arrays)
        return results, (True,) * len(results)

    op.def_vmap(rule)
    return op


def _refuse_unmapped(call: Call, mapped: set[str]) -> None:
    for arg in call.inputs:
        if arg.mutated and arg.name not in mapped:
            raise ValueError(
                f"{call.info.name}: {arg.name}: expected to be mapped too, since it is overwritten"
            )


def _loop(op: Callable[..., Any], mapped: Any, arrays: tuple[Any, ...]) -> Any:
    """Call once per slice. No loop runs along a sharded axis: the slices are gathered before."""

    def body(slices: list[Any]) -> Any:
        rest = iter(slices)
        return op(*[next(rest) if m else a for a, m in zip(arrays, mapped)])

    stacks = [a for a, m in zip(arrays, mapped) if m]
    lead = spec_of(stacks[0])[0]
    results = _jax.lax.map(body, [respec(a, (None, *spec_of(a)[1:])) for a in stacks])
    return tuple(respec(x, (lead, *spec_of(x)[1:])) for x in results)


def _merged(call: Call, op: Callable[..., Any], dim: str, batch: tuple[Any, ...]) -> Any:
    """Call once with the mapped axis folded into dim, and unfold it in the results."""
    size, mapped, arrays = batch
    lengths: list[Any] = []
    wide = [(a, x.ndim - m) for a, x, m in zip(call.inputs, arrays, mapped) if "..." in a.dims]
    leading = max((rank - len(a.dims) + 1 for a, rank in wide), default=0)

    def fold(arg: backend.Arg, array: Any, is_mapped: bool) -> Any:
        if dim not in arg.dims:
            return array
        if dim == "...":  # what is not mapped is broadcast by the op itself
            missing = leading - (array.ndim - len(arg.dims))
            return _ones(array, missing) if is_mapped else array
        full = array if is_mapped else _jax.numpy.broadcast_to(array, (size, *array.shape))
        if dim == "*":  # leading dims take one more as it is
            return full
        axis = _axis(arg, dim, full.ndim - 1)
        lengths.append(full.shape[axis + 1])
        return _fold(full, axis)

    results = op(*map(fold, call.inputs, arrays, mapped))
    if dim in {"*", "..."}:
        return results
    axes = [_axis(arg, dim, x.ndim) for arg, x in zip(call.results, results)]
    return tuple(_unfold(x, axis, (size, lengths[0])) for x, axis in zip(results, axes))


def _ones(array: Any, count: int) -> Any:
    """Put dims of size 1 behind axis 0."""
    return _jax.numpy.expand_dims(array, tuple(range(1, 1 + count)))


def _axis(arg: backend.Arg, dim: str, rank: int) -> int:
    """Return where the dim is in an array; leading dims stand before it."""
    return rank - (len(arg.dims) - arg.dims.index(dim))


def _fold(array: Any, axis: int) -> Any:
    """Fold axis 0 into the axis that is number ``axis`` of the rest."""
    lead, *rest = spec_of(array)
    rest[axis] = None
    array = _jax.numpy.moveaxis(respec(array, (lead, *rest)), 0, axis)
    rest[axis] = lead
    shape = array.shape
    shape = (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
    return _jax.lax.reshape(array, shape, out_sharding=sharding_of(array, rest))


def _unfold(array: Any, axis: int, sizes: tuple[Any, Any]) -> Any:
    spec = list(spec_of(array))
    shape = (*array.shape[:axis], *sizes, *array.shape[axis + 1 :])
    spec.insert(axis + 1, None)
    array = _jax.lax.reshape(array, shape, out_sharding=sharding_of(array, spec))
    return _jax.numpy.moveaxis(array, axis, 0)
