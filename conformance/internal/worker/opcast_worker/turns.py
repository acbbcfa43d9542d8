"""Times calls from microseconds to seconds in interleaved rounds."""

from __future__ import annotations

import ctypes
import gc
import math
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any

import numpy as np

STRETCH = 1_000_000
"""Nanoseconds that a stretch of calls takes at least: long enough for the clock, short enough to meet one state of the machine."""

SLOW = 5_000_000
"""Nanoseconds of a call that is a sample by itself, if the others take as long; else one is the fastest of three stretches,
since others may meet another program."""

REST = 0.006
"""Seconds before a sample in which threads of another call stop to wait for more work, which they do by running in circles."""

LEAST = 3
"""Rounds, however long they take: as many as quartiles need."""

HOPELESS, ENDLESS = 4.0, 100_000_000
"""A peer that takes so many times as long as the op, and so many nanoseconds, gives one sample."""

COPIED = 1 << 27
"""Bytes of the copy through memory: more than caches hold."""


@dataclass
class Timed:
    """A call, and the nanoseconds that it took in each round."""

    call: Callable[[], Any]
    """Makes the call."""
    wait: Callable[[Any], None]
    """Waits for a result, after each call or after a stretch of them."""
    eager: bool
    """Whether each call is waited for: else the results of many calls would be in memory at a time."""
    samples: list[float] = field(default_factory=list[float])
    number: int = 1
    stretches: int = 1

    def warm(self) -> float:
        """Run it until it is warm; return the least nanoseconds of one run."""
        number, once = 1, self.stretch(1)
        if once < ENDLESS:
            once = min(once, self.stretch(1), self.stretch(1))
        while max(once, 1) * number < STRETCH:
            number *= 2
            once = min(once, self.stretch(number))
        return max(once, 1)

    def sample(self) -> float:
        """Return nanoseconds per call."""
        return min(self.stretch(self.number) for _ in range(self.stretches))

    def stretch(self, number: int) -> float:
        """Return nanoseconds per call of a number of calls in a row."""
        call, wait, clock = self.call, self.wait, time.perf_counter_ns
        times, result = range(number), None
        begin = clock()
        if self.eager:
            for _ in times:
                wait(call())
        else:
            for _ in times:
                result = call()
            wait(result)
        return (clock() - begin) / number


def alike(calls: Sequence[Timed], once: Sequence[float]) -> None:
    """Let samples of all consist of the same number of calls, as far as that is short for each.

    ``once`` has the nanoseconds of one run of each. The first calls after a rest find arrays in memory, those behind them
    in the cache: with another number of calls, one would be told faster than the other for that alone.
    """
    fastest = min(once)
    number = math.ceil(STRETCH / fastest)
    for call, nanoseconds in zip(calls, once, strict=True):
        call.number = max(1, min(number, int(SLOW / nanoseconds)))
        call.stretches = 1 if fastest > SLOW or nanoseconds > HOPELESS * SLOW else 3


def run(calls: list[Timed], rounds: int, seconds: float, rest: float) -> list[int]:
    """Fill the samples of calls: the op, the copy and peers. Return which are too slow to be sampled again.

    Sample i of all calls comes from round i.
    """
    once = {0: calls[0].warm()}
    limit = max(HOPELESS * once[0], ENDLESS)
    alike(calls[1:2], [calls[1].warm()])
    slow: list[int] = []
    for i, call in enumerate(calls[2:], 2):
        time.sleep(rest)
        if (first := call.stretch(1)) > limit and (first := min(first, call.stretch(1))) > limit:
            slow.append(i)
            call.samples.append(first)
        else:
            once[i] = call.warm()
    alike([calls[i] for i in once], list(once.values()))
    take([call for i, call in enumerate(calls) if i not in slow], rounds, seconds, rest)
    return slow


def take(
    calls: Sequence[Timed],
    rounds: int,
    seconds: float = math.inf,
    rest: float = 0.0,
    least: int = LEAST,
) -> None:
    """Add to the samples of calls that are warm: in each round one of each, after a rest."""
    order = list(calls)
    shuffle = random.Random(0).shuffle  # what ran before has an influence
    end = time.monotonic() + seconds
    gc.collect()
    gc.disable()
    try:
        for done in range(rounds):
            if done >= least and time.monotonic() > end:
                break
            shuffle(order)
            for call in order:
                time.sleep(rest)
                call.samples.append(call.sample())
    finally:
        gc.enable()


class Copy:
    """A copy through the memory of the host, shared by so many threads."""

    def __init__(self, threads: int) -> None:
        """Allocate memory that goes back to the system with the object."""
        size = COPIED // threads
        whole = [np.frombuffer(mmap(-1, COPIED), np.uint8) for _ in range(2)]
        for array in whole:
            array.fill(1)  # pages that were never written are all the same one
        self.parts = [
            (whole[1][i * size : (i + 1) * size], whole[0][i * size : (i + 1) * size])
            for i in range(threads)
        ]
        self.pool = ThreadPoolExecutor(threads)

    def __call__(self) -> None:
        """Copy."""
        if len(self.parts) == 1:
            np.copyto(*self.parts[0])
            return
        for part in [self.pool.submit(np.copyto, *pair) for pair in self.parts]:
            part.result()

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()


def release() -> None:
    """Give free memory back: processes of other frameworks wait for their turn, and this one was told to keep it."""
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
