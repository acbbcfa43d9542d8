"""Measure what a call of a generated op costs beside hand-written bindings of the same function.

Prints ratios to the peers, with the budgets. A verdict has a question mark where the budget lies between
the quartiles.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import figures
import jax_rows
import numpy as np
import numpy_rows
import torch_rows
from figures import quartiles, ratios
from row import SHAPE, Row
from statement import measure

_ROUNDS = 100
_WIDTH = 52


def rows() -> list[Row]:
    """Return all lines, of ours and of others; compiles the peers if they are not."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(SHAPE, np.float32)
    weight = rng.standard_normal(SHAPE[1:], np.float32)
    groups = (torch_rows.rows, jax_rows.rows, numpy_rows.rows)
    return [row for group in groups for row in group(x, weight)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="samples per line")
    parser.add_argument("--figures", type=Path, help="write the figures into this file, too")
    options = parser.parse_args()
    lines = rows()
    samples = dict(zip([r.what for r in lines], measure([r.call for r in lines], options.rounds)))
    print(f"x[4, 16] in float32, {options.rounds} rounds, times in µs\n")
    print(
        f"{'what':{_WIDTH}}{'median':>8}{'quartiles':>16}{'ratio':>7}{'quartiles':>13}{'budget':>8}"
    )
    for row in lines:
        own = samples[row.what]
        spread = quartiles(ratios(own, samples[row.peer])) if row.peer else None
        print(_line(row, quartiles(own), spread))
    if options.figures:
        figures.write(options.figures, [f for row in lines for f in _figures(row, samples)])


def _line(row: Row, time: Sequence[float], spread: Sequence[float] | None) -> str:
    text = f"{row.what:{_WIDTH}}{time[1]:8.2f}{_range(time):>16}"
    if spread is None:
        return text + f"{'1':>7}"
    low, median, high = spread
    text += f"{median:7.2f}{_range(spread):>13}"
    if row.budget is None:
        return text
    verdict = "holds" if median <= row.budget else "misses"
    unsure = "?" if low <= row.budget <= high else ""
    return text + f"{row.budget:8.1f}  {verdict}{unsure}"


def _figures(row: Row, samples: dict[str, list[float]]) -> list[figures.Figure]:
    """Return the time of a line in nanoseconds, and its ratio to the peer."""
    own = samples[row.what]
    time = figures.Figure(f"{row.name}/time", row.what, "ns", [1000 * us for us in own])
    if not row.peer:
        return [time]
    compared = ratios(own, samples[row.peer])
    return [time, figures.Figure(f"{row.name}/ratio", row.what, "ratio", compared, beside=row.peer)]


def _range(spread: Sequence[float]) -> str:
    return f"{spread[0]:.2f}-{spread[2]:.2f}"


if __name__ == "__main__":
    main()
