"""Times statements of about a microsecond, interleaved, with the clock of ``opcast bench``."""

from __future__ import annotations

import sys
import timeit
from dataclasses import dataclass
from typing import Any

from figures import ROOT

sys.path.append(str(ROOT / "conformance" / "internal" / "worker"))
from collections.abc import Mapping, Sequence

from opcast_worker import turns

_WARM_UP = 10


@dataclass(frozen=True)
class Call:
    """A statement to time."""

    code: str
    """The statement."""
    names: Mapping[str, Any]
    """What it uses, as local variables."""
    per: int = 1
    """Number of operations in one execution."""
    less: Call | None = None
    """A call whose time is subtracted before the division."""


class Timed(turns.Timed):
    """A statement whose executions follow each other without the call of a function."""

    def __init__(self, call: Call) -> None:
        """Compile it, and set how often a sample executes it."""
        hidden = {f"_local_{name}": value for name, value in call.names.items()}
        setup = "; ".join(f"{name} = _local_{name}" for name in call.names) or "pass"
        self._timer = timeit.Timer(call.code, setup, globals=hidden)
        super().__init__(self._timer.timeit, wait=lambda _: None, eager=False)
        self._per = call.per
        self._less = Timed(call.less) if call.less else None
        self.stretch(_WARM_UP)  # the first execution compiles
        turns.alike([self], [self.warm()])

    def stretch(self, number: int) -> float:
        """Return nanoseconds per execution of a number of executions in a row."""
        return self._timer.timeit(number) / number * 1e9

    def sample(self) -> float:
        """Return nanoseconds per operation."""
        return (super().sample() - (self._less.sample() if self._less else 0)) / self._per


def measure(calls: Sequence[Call], rounds: int) -> list[list[float]]:
    """Return the samples of each call in microseconds; sample i of all calls comes from round i."""
    timed = [Timed(call) for call in calls]
    turns.take(timed, rounds)
    return [[nanoseconds / 1e3 for nanoseconds in one.samples] for one in timed]
