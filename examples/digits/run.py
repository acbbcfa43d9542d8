"""Run every op and the digit network in every adaptor, and compare their bits.

Exits 1 unless all adaptors give the same bits and at least 95 % of the held-out digits are right.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))  # where the examples share frameworks.py
import data
import frameworks
import network
import numpy as np
import opcast_backend
import sample
from frameworks import Framework, Values
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]

DTYPES = ("float32", "float16", "bfloat16")
ENOUGH = 0.95


def main() -> int:
    """Print both tables and return the exit code."""
    reasons = {name: frameworks.why_not(name) for name in frameworks.NAMES}
    fws = [frameworks.load(name) for name, reason in reasons.items() if not reason]

    same = ops_table(fws)
    print()
    same_digits, worst = digits_table(fws)
    print()
    for name, reason in reasons.items():
        if reason:
            print(f"{name} was not run: {reason}.")
    verdict = "bit-identical" if same and same_digits else "NOT bit-identical"
    *names, last = [fw.name for fw in fws if fw.device == "cpu"]
    print(f"{', '.join(names)} and {last} are {verdict}.")
    if worst < ENOUGH:
        print(f"An accuracy is below {ENOUGH:.0%}.")
    return 0 if same and same_digits and worst >= ENOUGH else 1


def ops_table(fws: list[Framework]) -> bool:
    """Print where each op gives the same bits in all of its dtypes; return whether all do."""
    same, left = True, list[str]()
    print_row("op", (fw.name for fw in fws))
    for op in opcast_backend.ops().values():
        try:
            rows = [[call(fw, op, dtype) for dtype in sample.dtypes(op)] for fw in fws]
        except (TypeError, ValueError):  # its rules say what the sample does not know
            left.append(op.name)
            continue
        equal = agree(fws, rows)
        print_row(op.name, ("✓" if cell else "differs" for cell in equal))
        same &= all(equal)
    print(f"{len(left)} more take other sizes or lists of arrays: {', '.join(left)}.")
    return same


def call(fw: Framework, op: opcast_backend.Op, dtype: str) -> list[Any]:
    """Return the bits of an op's results on its sample."""
    arrays = [fw.array(values) for values in sample.inputs(op, dtype)]
    function = getattr(fw.ops, op.name)
    result: Any = function(*arrays, **sample.attrs(op))
    results = result if len(op.results) > 1 else (result,)
    return [None if y is None else bits(fw.values(y)) for y in results]


def digits_table(fws: list[Framework]) -> tuple[bool, float]:
    """Print the accuracy per dtype; return whether all bits agree, and the lowest accuracy."""
    _, (images, labels) = data.load()
    weights = load_file(Path(__file__).with_name("weights.safetensors"))
    same, worst = True, 1.0
    print_row(f"{len(labels)} digits", (fw.name for fw in fws))
    for dtype in DTYPES:
        rows = [run(fw, images.astype(dtype), weights) for fw in fws]
        accuracies = [np.count_nonzero(row.argmax(axis=1) == labels) / len(labels) for row in rows]
        print_row(dtype, (f"{accuracy:.1%}" for accuracy in accuracies))
        same &= all(agree(fws, [bits(row) for row in rows]))
        worst = min(worst, *accuracies)
    return same, worst


def run(fw: Framework, images: Values, weights: dict[str, Values]) -> Values:
    """Return the probabilities of the digits in one framework, in the dtype of the images."""
    w = {name: fw.array(values.astype(images.dtype)) for name, values in weights.items()}
    return fw.values(network.probabilities(fw.ops, fw.array(images), w))


def agree(fws: list[Framework], rows: list[Any]) -> list[bool]:
    """Return for each framework whether its row equals that of the first on the same device."""
    first: dict[str, Any] = {}
    return [row == first.setdefault(fw.device, row) for fw, row in zip(fws, rows)]


def bits(values: Values) -> tuple[str, tuple[int, ...], bytes]:
    """Return what must be equal: dtype, shape and bytes."""
    return values.dtype.name, values.shape, values.tobytes()


def print_row(head: str, cells: Iterable[str]) -> None:
    """Print a row of a table."""
    print(f"{head:24}" + "".join(f"{cell:>12}" for cell in cells))
