"""Call ops with more elements than 31 and 32 bits count, in little memory.

Usage: sizes.py DEFINITIONS short|long|all [OP...]. Prints what each size gives: right, our error, or why it
was left out. Where parts of a call are calls, only both ends of its loops run (ends.cc).
"""

import itertools
import math
import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from definition import Op, call
from ends import Ends
from long_arrays import MOST, WINDOW, Fill, LeftOut, Memory, poison
from parts import INTERLEAVED, PARTS, Part, places
from whole import SPECIAL, near

SIZES = (2**31 - 1, 2**31, 2**32 + 8)
MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # bytes of memory


def filler(arg: dict[str, Any], env: dict[str, Any], part: Part, rng: np.random.Generator) -> Fill:
    """Return what writes values into a part of an input: the least, where some are given later."""
    low, high = (
        eval(str(arg.get(end, default)), {}, env) for end, default in (("min", -8), ("max", 8))
    )

    def fill(x: np.ndarray) -> None:
        if arg["name"] in part.contents:
            x[...] = low
        elif part.repeats and x.dtype.kind not in "iu":
            x[...] = np.resize(np.array([1.5, -0.5, 2, 0.25], x.dtype), x.size)
        elif arg.get("sorted"):
            x[...] = np.linspace(low, min(high, 2**31 - 1), x.size)
        elif x.dtype.kind == "u":
            x[...] = rng.integers(0, 256, x.size)
        elif x.dtype.kind == "i":
            x[...] = rng.integers(low, min(high, 2**31 - 2) + 1, x.size)
        else:
            some = rng.standard_normal(x.size, np.float32)
            x[...] = (np.abs(some) if low == 0 else some).clip(low, high).astype(x.dtype)

    return fill


def needed(op: Op, env: dict[str, Any]) -> str:
    """Return a condition that the sizes break, "" if there is none."""
    for arg in [*op.text.get("outputs", []), *op.text.get("scratch", [])]:
        if type(arg.get("max")) is str and eval(arg["max"], {}, env) > 2**31 - 1:
            return f"{arg['max']} <= 2147483647"
    return ""


class Case:
    """An op and a size of one of its dims."""

    def __init__(self, op: Op, dim: str, size: int, loops: Ends) -> None:
        self.op, self.dim, self.memory, self.loops = op, dim, Memory(), loops
        self.part = PARTS.get((op.name, dim), Part())
        self.size = size + -size % self.part.unit
        self.env = op.env(self.part.sizes | dict.fromkeys([dim, *self.part.along], self.size))
        self.given = [a for a in op.text["inputs"] if not a.get("optional")]
        self.results = [
            a for a in op.text.get("outputs", []) if not a.get("saved") and "present_if" not in a
        ]

    def room(self) -> None:
        """Leave out what needs more memory than there is: work space is memory of its own."""
        kernels = self.op.text.get("kernels", [{}])
        if all(k.get("scratch", True) for k in kernels if k.get("device", "cpu") == "cpu"):
            for s in self.op.text.get("scratch", []):
                size = (
                    math.prod(self.op.shape(s, self.env))
                    * np.dtype(self.op.dtype(s, self.env)).itemsize
                )
                if (
                    MOST < size < 2 * MACHINE
                ):  # Linux refuses what is far beyond the machine's memory
                    raise LeftOut(f"scratch {s['name']} of {size >> 30} GiB")

    def array(self, arg: dict[str, Any], fill: Fill) -> np.ndarray:
        """Return an argument."""
        return self.memory.array(self.op.shape(arg, self.env), self.op.dtype(arg, self.env), fill)

    def run(self) -> str:
        """Return what the call gives, and fail if it is wrong."""
        rng = np.random.default_rng(self.size)
        inputs = [self.array(a, filler(a, self.env, self.part, rng)) for a in self.given]
        outputs = [self.array(a, poison) for a in self.results]
        if condition := needed(self.op, self.env):
            try:
                call(self.op, inputs, outputs)
            except ValueError as e:
                assert str(e).startswith(f"{self.op.name}: expected {condition}, got "), e
                return "our error"
            raise AssertionError(f"expected {condition}")
        self.room()
        if self.dim in self.op.parallel() or (self.op.name, self.dim) in PARTS:
            return self.slices(inputs, outputs)
        special = SPECIAL.get((self.op.name, self.dim))
        if special is None:
            raise LeftOut("no part of a call is a call")
        special(self, inputs, outputs)
        return "right"

    def ends(self, arg: dict[str, Any], x: np.ndarray) -> Any:
        """Return the index of both ends of an array along the dim, and of all of one that lacks it."""
        grown = (self.dim, *self.part.along)
        for axis, text in enumerate(self.op.dims(arg)):
            found = places(self.op, grown, self.part.edge, text, x.shape[axis], self.env)
            if found is not None:
                return (*[slice(None)] * axis, found)
        return ()

    def mute(self, arg: dict[str, Any], x: np.ndarray) -> None:
        """Write what adds nothing between both ends of an array."""
        at, most = self.ends(arg, x), 3 * WINDOW // x.itemsize
        kept, flat = x[at].copy(), x.reshape(-1)
        flat[:most] = flat[-most:] = self.part.middle[arg["name"]]
        x[at] = kept

    def prepare(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """Write what the part needs into the inputs, and return both ends of them."""
        part, small = self.part, list[np.ndarray]()
        last = min(self.size, part.last)
        beyond = self.size - last  # elements that no position reaches
        if part.pages and beyond >= part.edge:
            last = part.edge
        for arg, x in zip(self.given, inputs):
            if arg["name"] in part.middle:
                self.mute(arg, x)
            at = self.ends(arg, x)
            small.append(x[at].copy())
            if values := part.contents.get(arg["name"]):
                small[-1][...] = values(part.edge + max(part.edge - beyond, 0))
                x[at] = small[-1] if at else values(last)
        return small

    def slices(self, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> str:
        """Compare both ends with a call of both ends: the bits must be the same, unless it is a sum."""
        small = self.prepare(inputs)
        mutated = [i for i, a in enumerate(self.given) if a.get("mutated")]
        # Zeros, for what no call writes would be the poison of the outputs.
        want = [np.zeros_like(y[self.ends(a, y)]) for a, y in zip(self.results, outputs)]
        call(self.op, small, want)
        with nullcontext() if self.part.whole() else self.loops.only():
            call(self.op, inputs, outputs)
        want += [small[i] for i in mutated]
        written = [*zip(self.results, outputs), *((self.given[i], inputs[i]) for i in mutated)]
        for (a, x), y in zip(written, want):
            self.compare(a, x[self.ends(a, x)], y)
        return "right"

    def compare(self, arg: dict[str, Any], got: np.ndarray, want: np.ndarray) -> None:
        """Fail unless both ends of an array are what a call of both ends gives."""
        if f"2*{self.dim}" in self.op.dims(arg) and self.op.name not in INTERLEAVED:
            # Where halves meet lies memory that the windows share.
            edge = self.part.edge
            got, want = (np.delete(x, range(edge, x.shape[-1] - edge), -1) for x in (got, want))
        summed = self.dim in self.op.text.get("sums", []) and self.dim not in self.op.dims(arg)
        if summed and not self.part.whole():
            return  # a sum over all of it
        if self.part.whole():
            near(got, want)
        else:
            assert got.tobytes() == want.tobytes(), f"{arg['name']}: got {got}, want {want}"


def attempt(op: Op, dim: str, size: int, loops: Ends) -> tuple[str, float]:
    """Return what a size gives, and how long it took."""
    begin, case = time.monotonic(), None
    try:
        case = Case(op, dim, size, loops)
        said = case.run()
    except LeftOut as why:
        said = f"left out: {why}"
    except MemoryError as e:
        said = f"our error: {e}"
    except (AssertionError, ArithmeticError, TypeError, ValueError) as e:
        said = f"WRONG: {type(e).__name__}: {e}"
    if case is not None:
        case.memory.free()
    return said, time.monotonic() - begin


def chosen(op: Op, dim: str, size: int, length: str) -> bool:
    """Say whether a run of a length tries a size: all of them take an hour."""
    if length == "all" or (length == "long" and (op.name, dim) in SPECIAL):
        return True
    if size != SIZES[-1]:
        return False
    quick = dim == "*" and dim in op.parallel() and "sums" not in op.text
    first = length == "long" and dim == op.symbols()[0]
    return first or quick or needed(op, op.env({dim: size})) != ""


def main() -> None:
    """Try all sizes of all dims."""
    folder, length, *names = sys.argv[1:]
    wrong, loops = 0, Ends()
    ops = [Op(path) for path in sorted(Path(folder).glob("*/*.toml"))]
    stale = PARTS.keys() - {(op.name, dim) for op in ops for dim in op.symbols()}
    assert not stale, f"no such dims: {stale}"
    for op in ops:
        if names and op.name not in names:
            continue
        for dim, size in itertools.product(op.symbols(), SIZES):
            if not chosen(op, dim, size, length):
                continue
            said, seconds = attempt(op, dim, size, loops)
            wrong += said.startswith("WRONG")
            print(f"{op.name} {dim} = {size}: {said} ({seconds:.1f} s)", flush=True)
    sys.exit(f"{wrong} are wrong" if wrong else 0)


if __name__ == "__main__":
    main()
