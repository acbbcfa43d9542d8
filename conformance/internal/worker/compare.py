"""Times an op and a function that does the same, on the same arrays and in turns."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import foreign
from bound import Answer, Bound, Request, Unsupported, describe_error, memories, memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from caller import Caller

ROUNDS = 31
"""Measurements of each; their median is told. An odd number has one in the middle."""

BLOCK = 2e-3
"""Seconds that one measurement takes at least, so that the clock's own duration does not count."""


def answer(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Return the medians of both in microseconds."""
    try:
        ours = bound(caller, request, blobs)
        theirs = replace(ours, function=foreign.resolve(request["target"]))
        both = (block(caller, ours), block(caller, theirs))
        count = [repeats(run) for run in both]
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            for run, n, found in zip(both, count, times):
                found.append(run(n) / n)
    except Unsupported as error:
        return {"unsupported": str(error)}, []
    except Exception as error:  # whatever a function raises is the answer
        return {"error": describe_error(error)}, []
    return {
        "ours": 1e6 * sorted(times[0])[ROUNDS // 2],
        "theirs": 1e6 * sorted(times[1])[ROUNDS // 2],
    }, []


def bound(caller: Caller, request: Request, blobs: list[bytes]) -> Bound:
    """Return the call of a request."""
    buffers = memories(blobs)

    def value(tagged: Request) -> Any:
        return caller.untag(tagged, lambda spec: caller.make(spec, memory(spec, buffers)))

    args = [value(v) for v in request["args"]]
    kwargs = {name: value(request["kwargs"][name]) for name in request["order"]}
    return caller.bind(request["op"], args, kwargs, [], tuple(request["mutated"]), [])


def block(caller: Any, call: Bound) -> Callable[[int], float]:
    """Return a function that tells how long a number of calls takes, until their results are there."""

    def run(n: int) -> float:
        begin = time.perf_counter()
        result: Any = None
        for _ in range(n):
            result = call()
        caller.wait(result)
        return time.perf_counter() - begin

    return run


def repeats(run: Callable[[int], float]) -> int:
    """Return how many calls one measurement needs; the first calls warm everything up."""
    n = 1
    run(3)
    while run(n) < BLOCK:
        n *= 2
    return n
