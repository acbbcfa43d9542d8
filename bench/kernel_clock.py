"""Times calls from microseconds to seconds in interleaved rounds, within a budget."""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_STRETCH_NS = 1_000_000  # long enough for the clock
_SLOW_NS = 5_000_000  # a sample is one call if all take longer, else the fastest of three stretches
_LEAST = 3  # rounds, however long they take
_HOPELESS = 3.0  # times as slow as the fastest peer: no further samples


@dataclass
class Timed:
    """A call and the nanoseconds that it took, per round; a negative one where it was left out."""

    call: Callable[[], Any]
    samples: list[float] = field(default_factory=list[float])
    number: int = 1
    stretches: int = 1

    def warm(self) -> float:
        """Run it until it is warm; return the least time of one run."""
        number, once = 1, min(self._stretch(1) for _ in range(3))
        while max(once, 1) * number < _STRETCH_NS:
            number *= 2
            once = min(once, self._stretch(number))
        return max(once, 1)

    def sample(self) -> float:
        """Return nanoseconds per call."""
        return min(self._stretch(self.number) for _ in range(self.stretches))

    def _stretch(self, number: int) -> float:
        call, clock = self.call, time.perf_counter_ns
        times = range(number)
        begin = clock()
        for _ in times:
            call()
        return (clock() - begin) / number


def measure(calls: list[Timed], rounds: int, seconds: float, rest_s: float) -> int:
    """Fill the samples of calls, of which the first is ours; return the number of rounds.

    Sample i of all calls comes from round i. Before each sample there is a rest, in which
    threads that wait for more work of the call before stop doing so. Of peers that are far
    slower than the fastest no more than one sample is taken.
    """
    once: list[float] = []
    for call in calls:
        time.sleep(rest_s)
        once.append(call.warm())
    limit = min(once[1:], default=0) * _HOPELESS
    alive = [i for i, t in enumerate(once) if i == 0 or t <= limit]
    for i, t in enumerate(once):
        if i not in alive:
            calls[i].samples.append(t)
    # The same for all: calls after a rest find the arrays in memory, those behind them in the cache.
    fastest = min(once[i] for i in alive)
    for i in alive:
        calls[i].number = max(1, min(math.ceil(_STRETCH_NS / fastest), int(_SLOW_NS / once[i])))
        calls[i].stretches = 1 if fastest > _SLOW_NS else 3
    shuffle = random.Random(0).shuffle  # what ran before has an influence
    end = time.monotonic() + seconds
    for done in range(rounds):
        if done >= _LEAST and time.monotonic() > end:
            return done
        shuffle(alive)
        for i in alive:
            time.sleep(rest_s)
            calls[i].samples.append(calls[i].sample())
    return rounds
