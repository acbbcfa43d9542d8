"""Times calls of a microsecond in interleaved rounds, since machines are noisy and drift."""

from __future__ import annotations

import random
import statistics
import timeit
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_STRETCH_S = 0.0005  # short, so that a round meets one state of the machine
_STRETCHES = 3  # of which the fastest is the sample: others may have met another program
_WARM_UP = 10


@dataclass(frozen=True)
class Call:
    """A statement to time.

    Parameters
    ----------
    code
        The statement.
    names
        What it uses, as local variables.
    globals
        What else it uses.
    per
        Number of operations in one execution.
    less
        A call whose time is subtracted before the division.
    label
        What to print for it instead of the statement.

    """

    code: str
    names: Mapping[str, Any]
    globals: Mapping[str, Any] | None = None
    per: int = 1
    less: Call | None = None
    label: str = ""


class Clock:
    """Takes samples of one call, each long enough for the clock."""

    def __init__(self, call: Call) -> None:
        hidden = {f"_local_{name}": value for name, value in call.names.items()}
        setup = "; ".join(f"{name} = _local_{name}" for name in call.names) or "pass"
        space = {**(call.globals or {}), **hidden}
        self._timer = timeit.Timer(call.code, setup, globals=space)
        self._per = call.per
        self._less = Clock(call.less) if call.less else None
        self._number = 1
        self._timer.timeit(_WARM_UP)  # or the first execution, which compiles, sets the number
        while self._timer.timeit(self._number) < _STRETCH_S:
            self._number *= 2

    def sample(self) -> float:
        """Return microseconds per operation."""
        raw = self._once()
        return (raw - self._less._once() if self._less else raw) / self._per

    def _once(self) -> float:
        times = [self._timer.timeit(self._number) for _ in range(_STRETCHES)]
        return min(times) / self._number * 1e6


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of samples."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """Summarise samples."""
        return cls(*statistics.quantiles(samples, n=4, method="inclusive"))


def measure(calls: Sequence[Call], rounds: int) -> list[list[float]]:
    """Return the samples of each call; sample i of all calls comes from round i."""
    clocks = [Clock(call) for call in calls]
    samples: list[list[float]] = [[] for _ in calls]
    order = list(range(len(clocks)))
    shuffle = random.Random(0).shuffle  # what ran before has an influence
    for _ in range(rounds):
        shuffle(order)
        for i in order:
            samples[i].append(clocks[i].sample())
    return samples


def ratio(samples: Sequence[float], peer: Sequence[float]) -> Spread:
    """Summarise the ratios of samples that were taken in the same round."""
    return Spread.of([a / b for a, b in zip(samples, peer, strict=True)])
