"""Call ops with more elements than 31 and 32 bits count, in little memory.

Usage: sizes.py DEFINITIONS short|long|all [OP...]. Prints what each size gives: right, our error, or why it
was left out.
"""

import itertools
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from definition import Op
from long_arrays import MOST, WINDOW, Fill, LeftOut, Memory, poison, total
from opcast_backend import op_call

SIZES = (2**31 - 1, 2**31, 2**32 + 8)
EDGE = 3  # slices that are compared at each end

SHORT = ("eltwise_relu",)  # ops of a short run, at the largest size only


def filler(op: Op, arg: dict[str, Any], env: dict[str, Any], rng: np.random.Generator) -> Fill:
    """Return what writes values into a part of an input."""
    low, high = (
        eval(str(arg.get(end, default)), {}, env) for end, default in (("min", -8), ("max", 8))
    )

    def fill(x: np.ndarray) -> None:
        if arg.get("sorted"):
            x[...] = np.linspace(low, high, x.size)
        elif x.dtype.kind == "u":
            x[...] = rng.integers(0, 256, x.size)
        elif x.dtype.kind == "i":
            x[...] = rng.integers(low, min(high, 2**31 - 2) + 1, x.size)
        else:
            x[...] = rng.standard_normal(x.size, np.float32).astype(x.dtype)

    return fill


def needed(op: Op, env: dict[str, Any]) -> str:
    """Return a condition that the sizes break, "" if there is none."""
    for arg in [*op.text.get("outputs", []), *op.text.get("scratch", [])]:
        if type(arg.get("max")) is str and eval(arg["max"], {}, env) > 2**31 - 1:
            return f"{arg['max']} <= 2147483647"
    return ""


def call(op: Op, inputs: list[Any], outputs: list[Any]) -> None:
    """Call the library."""
    lists = [[x] if a.get("list") else x for a, x in zip(op.text["inputs"], inputs)]
    chosen = [
        a["name"] for a in op.text.get("attrs", []) if a["type"] == "dtype"
    ]  # outputs have it
    op_call(op.name, lists, outputs, {n: v for n, v in op.attrs.items() if n not in chosen})


def edges(op: Op, arg: dict[str, Any], x: np.ndarray, dim: str) -> np.ndarray:
    """Return both ends of an array along a dim; all of one that lacks it."""
    if dim not in op.dims(arg):
        return x.copy()
    axis = op.dims(arg).index(dim)
    size = x.shape[axis]
    return np.take(x, [*range(EDGE), *range(size - EDGE, size)], axis)


class Case:
    """An op and a size of one of its dims."""

    def __init__(self, op: Op, dim: str, size: int) -> None:
        self.op, self.dim, self.size, self.memory = op, dim, size, Memory()
        self.env = op.env(dim, size)
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
                if size > MOST:
                    raise LeftOut(f"scratch {s['name']} of {size >> 30} GiB")

    def array(self, arg: dict[str, Any], fill: Fill) -> np.ndarray:
        """Return an argument."""
        return self.memory.array(self.op.shape(arg, self.env), self.op.dtype(arg, self.env), fill)

    def run(self) -> str:
        """Return what the call gives, and fail if it is wrong."""
        rng = np.random.default_rng(self.size)
        inputs = [self.array(a, filler(self.op, a, self.env, rng)) for a in self.given]
        outputs = [self.array(a, poison) for a in self.results]
        if condition := needed(self.op, self.env):
            try:
                call(self.op, inputs, outputs)
            except ValueError as e:
                assert str(e).startswith(f"{self.op.name}: expected {condition}, got "), e
                return "our error"
            raise AssertionError(f"expected {condition}")
        self.room()
        if self.dim in self.op.parallel():
            return self.slices(inputs, outputs)
        special = SPECIAL.get((self.op.name, self.dim))
        if special is None:
            raise LeftOut("no part of a call is a call")
        special(self, inputs, outputs)
        return "right"

    def slices(self, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> str:
        """Compare both ends with a call of both ends: the bits must be the same."""
        small = [edges(self.op, a, x, self.dim) for a, x in zip(self.given, inputs)]
        mutated = [i for i, a in enumerate(self.given) if a.get("mutated")]
        want = [
            np.empty_like(edges(self.op, a, y, self.dim)) for a, y in zip(self.results, outputs)
        ]
        call(self.op, small, want)
        call(self.op, inputs, outputs)
        got = [edges(self.op, a, y, self.dim) for a, y in zip(self.results, outputs)]
        want += [small[i] for i in mutated]
        got += [edges(self.op, self.given[i], inputs[i], self.dim) for i in mutated]
        for a, x, y in zip([*self.results, *(self.given[i] for i in mutated)], got, want):
            if self.dim in self.op.text.get("sums", []) and self.dim not in self.op.dims(a):
                continue  # a sum over all of it
            assert x.tobytes() == y.tobytes(), f"{a['name']}: got {x}, want {y}"
        return "right"


def near(got: np.ndarray, want: np.ndarray) -> None:
    """Compare both ends of a long row."""
    got, want = (np.asarray(x, np.float64).reshape(-1) for x in (got, want))
    assert np.allclose(got, want, 2e-2, 1e-30), f"got {got}, want {want}"


def ends(x: np.ndarray) -> np.ndarray:
    """Return the first and the last numbers of a row."""
    flat = x.reshape(-1)
    return np.concatenate([flat[:EDGE], flat[-EDGE:]]).astype(np.float64)


def weight(x: np.ndarray) -> np.ndarray:
    """Return what numbers weigh beside a largest of 40."""
    return np.exp(x - 40)


def softmax(case: Case, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Compare with the sum over all that the row repeats."""
    inputs[0].reshape(-1)[-1] = 40  # else all are too small for 16 bits
    call(case.op, inputs, outputs)
    near(
        ends(outputs[0])[-1:],
        np.exp(ends(inputs[0])[-1:] - 40) / total(weight, inputs[0]),
    )


def rms_norm(case: Case, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Compare with the mean over all that the row repeats."""
    call(case.op, inputs, outputs)
    scale = (total(np.square, inputs[0]) / case.size + 1e-6) ** -0.5
    near(ends(outputs[0]), ends(inputs[0]) * scale * ends(inputs[1]))


def cross_entropy(case: Case, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Let the target be the last class."""
    inputs[1][...] = case.size - 1 if inputs[1].itemsize == 8 else min(case.size, 2**31) - 1
    call(case.op, inputs, outputs)
    target = float(inputs[0].reshape(-1)[int(inputs[1].reshape(-1)[0])])
    near(outputs[0], np.array(np.log(total(np.exp, inputs[0])) - target))


def gemm(case: Case, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """One sum of products."""
    for x in inputs[:2]:
        np.abs(x.reshape(-1)[-WINDOW:], out=x.reshape(-1)[-WINDOW:])
    call(case.op, inputs, outputs)
    want = total(np.multiply, inputs[0], inputs[1])
    assert (
        math.isinf(float(outputs[0].reshape(-1)[0]))
        or abs(float(outputs[0].reshape(-1)[0]) / want - 1) < 0.05
    )


def last(case: Case, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Put what is looked for at the end: an op that finds it says where."""
    inputs[0].reshape(-1)[-1] = 99
    call(case.op, inputs, outputs)
    where = outputs[-1].reshape(-1)[0]
    assert where == case.size - 1, f"got {where}, want {case.size - 1}"


def drawn(case: Case, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Only the last id has a probability."""
    flat = inputs[0].reshape(-1)
    for part in (flat[: WINDOW // 4], flat[WINDOW // 4 : WINDOW // 2], flat[-WINDOW // 2 :]):
        part[...] = 0
    last(case, inputs, outputs)


def kept(case: Case, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """With p = 0, nothing is dropped."""
    op_call(case.op.name, inputs, outputs, {"p": 0.0})
    assert ends(outputs[0]).tobytes() == ends(inputs[0]).tobytes()


def looked_up(case: Case, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    """Look up the last row of a long table."""
    inputs[0][...] = min(case.size, 2**31) - 1
    call(case.op, inputs, outputs)
    assert outputs[0].tobytes() == inputs[1][int(inputs[0].reshape(-1)[0])].tobytes()


SPECIAL: dict[tuple[str, str], Callable[[Case, list[np.ndarray], list[np.ndarray]], None]] = {
    ("cross_entropy", "V"): cross_entropy,
    ("dropout", "N"): kept,
    ("embedding", "V"): looked_up,
    ("gemm", "K"): gemm,
    ("rms_norm", "N"): rms_norm,
    ("softmax", "N"): softmax,
    ("top_k_top_p_min_p_sampling_from_probs", "V"): drawn,
    ("topk", "N"): last,
}


def attempt(op: Op, dim: str, size: int) -> tuple[str, float]:
    """Return what a size gives, and how long it took."""
    begin, case = time.monotonic(), None
    try:
        case = Case(op, dim, size)
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
    """Say whether a run of a length tries a size: all of them take hours."""
    if length == "all" or (length == "long" and (op.name, dim) in SPECIAL):
        return True
    if size != SIZES[-1]:
        return False
    first = length == "long" and dim == op.symbols()[0]
    return first or op.name in SHORT or needed(op, op.env(dim, size)) != ""


def main() -> None:
    """Try all sizes of all dims."""
    folder, length, *names = sys.argv[1:]
    wrong = 0
    for path in sorted(Path(folder).glob("*/*.toml")):
        op = Op(path)
        if names and op.name not in names:
            continue
        for dim, size in itertools.product(op.symbols(), SIZES):
            if not chosen(op, dim, size, length):
                continue
            said, seconds = attempt(op, dim, size)
            wrong += said.startswith("WRONG")
            print(f"{op.name} {dim} = {size}: {said} ({seconds:.1f} s)", flush=True)
    sys.exit(f"{wrong} are wrong" if wrong else 0)


if __name__ == "__main__":
    main()
