"""Leading dims that are broadcast, as NumPy broadcasts shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._meta import Arg


def together(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...] | None:
    """Return the dims that two shapes have together; None if they do not fit.

    Sizes may be symbolic: one is compared with 1 only where that decides.
    """
    if len(a) < len(b):
        a, b = b, a
    out = list(a)
    for i in range(-len(b), 0):
        m, n = a[i], b[i]
        if n in (m, 1):
            continue
        if m != 1:
            return None
        out[i] = n
    return tuple(out)


def leading(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the dims that shapes have together; ValueError if they do not fit."""
    found = shapes[0]
    for shape in shapes:
        if shape != found:
            more = together(found, shape)
            if more is None:
                raise ValueError("leading dimensions that do not fit")
            found = more
    return found


def spread_axes(shape: Sequence[int], trailing: int, full: Sequence[int]) -> tuple[int, ...]:
    """Return the axes of a full shape along which an array of another shape was broadcast.

    The full shape has the leading dims of all arrays together, and then the same last dims, as many as
    ``trailing`` says.
    """
    extra = len(full) - len(shape)
    ones = range(extra, len(full) - trailing)
    return (*range(extra), *(i for i in ones if shape[i - extra] == 1 and full[i] != 1))


def own_ranks(args: Sequence[Arg], ranks: Sequence[int | None]) -> dict[str, int]:
    """Return how many leading dims the arrays of lists have for themselves, by names such as ``*[0]``."""
    return {
        a.dims[0]: rank - len(a.dims) + 1
        for a, rank in zip(args, ranks)
        if rank is not None and a.dims and a.dims[0].startswith("*[")
    }
