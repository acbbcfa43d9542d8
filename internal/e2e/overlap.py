"""Compare what the Python rules say about memory with a search through all elements.

Nothing that overlaps may be missed, and arrays of equal shape and strides are judged exactly.
"""

from __future__ import annotations

import importlib
import itertools
import random
import sys
import types
from pathlib import Path
from typing import Any

# The package without its __init__, which needs the built library.
_package: Any = types.ModuleType("opcast_backend")
_package.__path__ = [str(Path(sys.argv[1]) / "backend/python/src/opcast_backend")]
sys.modules["opcast_backend"] = _package
rules: Any = importlib.import_module("opcast_backend._memory")


class Fake:
    """A framework whose arrays are Memory already."""

    def memory(self, value: Any) -> Any:
        """Return the value."""
        return value


def elements(m: Any) -> list[set[int]]:
    """Return the bytes of each element."""
    places = itertools.product(*(range(n) for n in m.shape))
    starts = [m.address + sum(k * s for k, s in zip(ks, m.strides)) for ks in places]
    return [set(range(start, start + m.itemsize)) for start in starts]


def array(r: random.Random) -> Any:
    """Return a small array somewhere in a small memory."""
    itemsize, rank = r.choice((1, 2)), r.randrange(4)
    shape = tuple(r.randrange(4) for _ in range(rank))
    strides = tuple(itemsize * r.randrange(-4, 9) + (r.randrange(20) == 0) for _ in range(rank))
    return rules.Memory(r.randrange(-4, 20), itemsize, shape, strides)


def clashes(op: str, name: str, value: Any, stride: str | None) -> str:
    """Return the text of the rule on layout, or on overlap within the array."""
    try:
        if stride is None:
            rules.distinct(Fake(), op, name, value)
        else:
            rules.check_layout(op, name, value, stride)
    except ValueError as error:
        return str(error)
    return ""


def search(rounds: int) -> tuple[int, int]:
    """Try random pairs; return how many pairs of equal shape and strides did not and did overlap."""
    r, exact = random.Random(1), [0, 0]
    for _ in range(rounds):
        a, b = array(r), array(r)
        if r.random() < 0.5:
            b = a._replace(address=b.address)
        bytes_a, bytes_b = elements(a), elements(b)
        meet = any(x & y for x in bytes_a for y in bytes_b)
        got = rules.overlap(a, b)
        assert got or not meet, (a, b)
        itself = any(x & y for x, y in itertools.combinations(bytes_a, 2))
        apart = clashes("op", "x", a, None) == ""
        assert not (apart and itself), a
        if apart and a[1:] == b[1:] and (a.address - b.address) % a.itemsize == 0:
            assert got == meet, (a, b)
            exact[meet] += 1
    return exact[False], exact[True]


def texts() -> None:
    """Check the texts and what counts as dense."""
    memory = rules.Memory
    halves = memory(0, 4, (3, 4), (32, 4)), memory(16, 4, (3, 4), (32, 4))
    assert not rules.overlap(*halves)
    assert rules.overlap(halves[0], memory(12, 4, (3, 4), (32, 4)))
    assert not rules.overlap(halves[0], halves[0]._replace(address=None))
    for value, stride, want in (
        (halves[0], "last", ""),
        (halves[0], "any", ""),
        (halves[0], "", "op: x: expected contiguous memory, got strides [8, 1]"),
        (memory(0, 4, (3, 4), (16, 8)), "last", "got strides [4, 2]"),
        (memory(0, 4, (3, 4), (4, 12)), "last", "op: x: expected a contiguous last dimension, got"),
        (memory(0, 4, (0, 4), (4, 12)), "", ""),
        (memory(0, 4, (1, 4), (999, 4)), "", ""),
        (memory(0, 4, (), ()), "", ""),
        (
            memory(0, 4, (3, 4), (0, 4)),
            None,
            "x: expected memory without overlap, got strides [0, 1]",
        ),
        (memory(None, 4, (3, 4), (0, 4)), None, "x: expected memory without overlap"),
    ):
        got = clashes("op", "x", value, stride)
        assert (want in got) if want else got == "", (value, stride, got)


texts()
found = search(20000)
assert min(found) > 100, found
print("apart and overlapping:", *found)
