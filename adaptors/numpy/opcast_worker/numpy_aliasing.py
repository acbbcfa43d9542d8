"""Special calls about memory that NumPy can show and no kernel can write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from opcast_worker.bound import Bound, Probes, Report, Unsupported, expecting


class Aliasing(Probes):
    """Probes of what is written."""

    @expecting(out=True)
    def probe_written_out(self, call: Bound) -> Any:
        """Give outputs of other byte order and alignment: each is refused in the words of its fault."""
        if call.mutated:
            raise Unsupported("an op that overwrites its arguments has no out=")
        made = call()
        outs: list[Any] = [*made] if isinstance(made, tuple) else [made]

        def to(i: int, change: Callable[[Any], Any]) -> Any:
            given: list[Any] = [None if x is None else np.empty_like(x) for x in outs]
            given[i] = change(outs[i])
            out = tuple(given) if len(given) > 1 else given[0]
            return call.function(*call.args, **{**call.kwargs, "out": out})

        return Report(made, notes([lambda c, i=i: to(i, c) for i, _ in there(outs)], outs))

    def probe_written_mutated(self, call: Bound) -> Any:
        """Overwrite arguments of other byte order and alignment: each is refused in the words of its fault."""
        if not call.mutated:
            raise Unsupported("nothing is overwritten")

        def over(i: int, change: Callable[[Any], Any]) -> Any:
            args = [change(x) if i == j else x for j, x in enumerate(call.args)]
            return call.function(*args, **call.kwargs)

        arrays = [call.args[i] for i in call.mutated]
        found = notes([lambda c, i=i: over(i, c) for i in call.mutated], arrays)
        return Report(call(), found)


def there(arrays: list[Any]) -> list[tuple[int, Any]]:
    """Return the arrays that are there, with their places."""
    return [(i, x) for i, x in enumerate(arrays) if x is not None]


def notes(ways: list[Callable[[Any], Any]], arrays: list[Any]) -> dict[str, Any]:
    """Try each way to pass an array that cannot be written."""
    found: dict[str, Any] = {}
    for way, (i, x) in zip(ways, there(arrays)):
        if x.size and x.itemsize > 1:
            found[f"unaligned {i}"] = text(way, unaligned) == "aligned memory, got unaligned memory"
        if x.size and not swapped(x).dtype.isnative:
            want = f"native byte order, got dtype {swapped(x).dtype.str}"
            found[f"byte order {i}"] = text(way, swapped) == want
    return found


def text(way: Callable[[Any], Any], change: Callable[[Any], Any]) -> str:
    """Return what was expected and got, in the words of the error; empty where there is none."""
    try:
        way(change)
    except ValueError as error:
        return str(error).partition("expected ")[2]
    return ""


def unaligned(x: Any) -> Any:
    """Return a copy that begins at an odd address."""
    memory = np.empty(x.nbytes + 1, np.uint8)[1:]
    copy = memory.view(x.dtype).reshape(x.shape)
    copy[...] = x
    return copy


def swapped(x: Any) -> Any:
    """Return a copy in the other byte order."""
    return x.astype(x.dtype.newbyteorder("S"))


create = Aliasing
