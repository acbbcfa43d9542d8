"""Ops whose inputs are lists of arrays, as ops of single arrays.

The library takes the arrays of a list one by one, after the lengths of all lists. So do the adaptors:
``scale(xs=[a, b], by)`` is a call of an op with the inputs ``xs[0]``, ``xs[1]`` and ``by``, which exists
for each length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._framework import Framework
    from ._meta import Arg, Op


def lengths(info: Op, inputs: Sequence[Any]) -> tuple[int, ...]:
    """Return how many arrays each list of a call has; one that is no list has none."""
    return tuple(_length(x) for a, x in zip(info.inputs, inputs) if a.list)


def _length(value: Any) -> int:
    items: Any = value
    return len(items) if isinstance(value, (list, tuple)) else 0


def flat(info: Op, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Return the inputs of a call with the arrays of lists one by one."""
    values: list[Any] = []
    for a, x in zip(info.inputs, inputs):
        values += x if a.list else [x]
    return tuple(values)


def grouped(args: Iterable[Arg], counts: dict[str, int], values: Iterable[Any]) -> Iterator[Any]:
    """Return arguments with a list for each that is one; counts says how long lists are."""
    rest = iter(values)
    for a in args:
        key = a.per or a.name
        yield list(islice(rest, counts[key])) if a.per or a.list else next(rest)


def leading(info: Op, args: tuple[Any, ...]) -> tuple[Op, tuple[Any, ...]]:
    """Return the form of an op that the lengths at the start of arguments tell, and the other arguments."""
    count = len(info.lists)
    return (single(info, args[:count]), args[count:]) if count else (info, args)


def whole(info: Op, one: Op, arrays: Sequence[Any]) -> list[Any]:
    """Return outputs and inputs with a list for each that is one, from those of a form for single arrays."""
    counts = dict(zip(info.lists, one.lengths))
    return list(grouped((*info.outputs, *info.inputs), counts, arrays))


def results(info: Op, one: Op, values: Any) -> Any:
    """Return what a call of the op returns from what one of its form for single arrays did."""
    made: Any = values
    made = made if isinstance(values, tuple) else (made,)
    args = [a for a in info.outputs if not a.saved] + [a for a in info.inputs if a.mutated]
    whole = tuple(grouped(args, dict(zip(info.lists, one.lengths)), made))
    return whole[0] if len(whole) == 1 else whole


def checker(check: Callable[..., Any], info: Op, one: Op) -> Callable[..., Any]:
    """Return the rules of an op on the arguments of its form for single arrays."""
    counts = dict(zip(info.lists, one.lengths))
    count = len(one.inputs)

    def single(fw: Framework, *args: Any) -> Any:
        return check(fw, *grouped(info.inputs, counts, args[:count]), *args[count:])

    return single


_single: dict[tuple[str, tuple[int, ...]], Op] = {}


def single(info: Op, counts: tuple[int, ...]) -> Op:
    """Return the form of an op for lists of these lengths."""
    key = info.name, counts
    if key not in _single:
        _single[key] = _spread(info, counts)
    return _single[key]


def _spread(info: Op, counts: tuple[int, ...]) -> Op:
    found = dict(zip(info.lists, counts))

    def each(args: Iterable[Arg]) -> tuple[Arg, ...]:
        out: list[Arg] = []
        for a in args:
            if not (a.list or a.per):
                of_list = a.number in found  # a number has the dtype of the first array of a list
                out.append(a._replace(number=f"{a.number}[0]") if of_list else a)
                continue
            for i in range(found[a.per or a.name]):
                dims = tuple(f"{d}[{i}]" if d in a.own else d for d in a.dims)
                out.append(a._replace(name=f"{a.name}[{i}]", list=False, per="", dims=dims))
        return tuple(out)

    names = {a.name: [b.name for b in each((a,))] for a in info.inputs}
    vmap = tuple((dim, tuple(n for name in over for n in names[name])) for dim, over in info.vmap)
    inputs, outputs = each(info.inputs), each(info.outputs)
    return info._replace(inputs=inputs, outputs=outputs, vmap=vmap, lengths=counts)


def call(
    op: Any, fw: Framework, inputs: tuple[Any, ...], attrs: tuple[Any, ...], *more: Any
) -> Any:
    """Call an adaptor's op in its form for single arrays, and return lists where it has some."""
    counts = lengths(op.info, inputs)
    if 0 in counts:
        op.check(fw, *inputs, *attrs)  # which says what is wrong
    one = op.single(counts)
    return results(op.info, one.info, one.call(flat(op.info, inputs), attrs, *more))


def form(op: Any, counts: tuple[int, ...]) -> Any:
    """Return an adaptor's op in its form for single arrays, for lists of these lengths."""
    one = copy(op)
    one.info = single(op.info, counts)
    one.check = checker(op.check, op.info, one.info)
    return one
