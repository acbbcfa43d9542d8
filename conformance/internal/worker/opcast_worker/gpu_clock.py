"""Times calls on a GPU: graphs of calls over several sets of arguments, replayed between two events."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from opcast_worker import turns
from opcast_worker.bound import Request
from opcast_worker.caller import Caller

REPLAY = 1_000_000
"""Nanoseconds that a replay takes at least, as far as the most calls allow."""

CALLS = 256
"""The most calls of one graph."""

ROTATED = 1 << 29
"""Bytes that the sets of arguments have together: several times what the L2 caches of GPUs hold."""

SETS = 32
"""The most sets: small arguments come from a cache in real programs, too."""

HOST_CALLS, HOST_STRETCHES = 20, 7
"""Eager calls in a row whose time on the host is taken, and how often."""


class Clock(Protocol):
    """What a framework's worker provides, so that the time of its calls on a GPU can be taken."""

    def event(self) -> Any:
        """Return a new event, recorded on the current stream."""

    def between(self, first: Any, last: Any) -> float:
        """Wait for the last event and return the nanoseconds between the two."""
        ...

    def captured(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        """Capture calls in a graph, with results that do not share memory; return what replays it."""
        ...

    def copies(self) -> Sequence[Callable[[], Any]]:
        """Return ways to move ``copied`` bytes from one array on the device to another; the fastest counts."""
        ...

    def product(self) -> tuple[Callable[[], Any], float] | None:
        """Return a large matrix product and its operations; None where there are no tensor cores."""

    def wait(self) -> None:
        """Wait for the device."""

    copied: int
    """Bytes of the array that is copied."""


def clock_of(caller: Caller) -> Clock | None:
    """Return the clock of the caller's framework; None on the host, and for a framework without one.

    A rehearsal is on the host, with a stand-in for the clock.
    """
    if caller.config["device"] == "cpu" and caller.config["profile"] != "rehearsal":
        return None
    try:
        module = importlib.import_module(f"opcast_worker.{caller.config['adaptor']}_clock")
    except ModuleNotFoundError:
        return None
    return module.create(caller)


def sets_of(size: int) -> int:
    """Return how many sets of arguments of a size in bytes take turns."""
    return max(1, min(SETS, ROTATED // max(size, 1) + 1))


@dataclass
class Replayed(turns.Timed):
    """A call on a GPU. Each of its samples is one replay of a graph in which several calls follow each other."""

    clock: Any = None
    """Of the framework."""
    calls: list[Callable[[], Any]] = field(default_factory=list[Any])
    """The call with each set of arguments."""
    eager_because: str = ""
    """Why it cannot be captured; then samples are calls in a row."""
    replay: Callable[[], Any] | None = None
    length: int = 1

    def warm(self) -> float:
        """Capture the graph; return nanoseconds of one call."""
        once = self.stretch(1)
        if once < turns.ENDLESS:
            once = min(once, self.stretch(len(self.calls)))
        self.length = max(1, min(CALLS, math.ceil(REPLAY / max(once, 1))))
        try:
            self.replay = replay = self.clock.captured(self.rotation(self.length))
            replay()
            self.clock.wait()
        except (
            Exception
        ) as error:  # what a call does that no graph can hold: whatever the framework raises
            self.replay = None
            self.eager_because = f"{type(error).__name__}: {error}".split("\n", 1)[0][:200]
        return once if self.replay is None else self.sample()

    def sample(self) -> float:
        """Return nanoseconds per call, on the device."""
        replay = self.replay
        if replay is None:
            return self.stretch(self.length)
        replay()  # the one that is timed waits in line behind it, not for the host
        first = self.clock.event()
        replay()
        return self.clock.between(first, self.clock.event()) / self.length

    def stretch(self, number: int) -> float:
        """Return nanoseconds per call of calls that are made one by one."""
        calls = self.rotation(number)
        first = self.clock.event()
        for call in calls:
            call()
        return self.clock.between(first, self.clock.event()) / number

    def rotation(self, number: int) -> list[Callable[[], Any]]:
        """Return so many calls, of one set after the other."""
        return [self.calls[i % len(self.calls)] for i in range(number)]

    def host(self) -> list[float]:
        """Return nanoseconds that the host spends on a call, without waiting for the device."""
        calls, samples = self.rotation(HOST_CALLS), list[float]()
        for _ in range(HOST_STRETCHES):
            self.clock.wait()
            begin = time.perf_counter_ns()
            for call in calls:
                call()
            samples.append((time.perf_counter_ns() - begin) / HOST_CALLS)
        self.clock.wait()
        return samples


def replayed(clock: Clock, calls: list[Callable[[], Any]]) -> Replayed:
    """Return calls to be timed, which differ in the set of arguments only."""
    return Replayed(calls[0], lambda _: clock.wait(), eager=False, clock=clock, calls=calls)


def told(timed: Replayed) -> Request:
    """Return what the answer says about a call beside its samples."""
    if timed.replay is None and not timed.eager_because:
        return {}  # it was too slow to be captured
    return {"host": timed.host(), "eager": timed.eager_because}


def fastest_copy(clock: Clock) -> Replayed:
    """Return the copy through the device's memory that takes least time."""
    ways = [replayed(clock, [way]) for way in clock.copies()]
    return min(ways, key=Replayed.warm)


def peak(clock: Clock) -> list[float]:
    """Return samples of operations per nanosecond of a large matrix product."""
    if (found := clock.product()) is None:
        return []
    product, operations = found
    timed = replayed(clock, [product])
    timed.warm()
    return [operations / timed.sample() for _ in range(7)]
