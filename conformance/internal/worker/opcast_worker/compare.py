"""Times an op and a function that does the same, on the same arrays and in turns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opcast_worker import foreign, turns
from opcast_worker.bound import (
    Answer,
    Bound,
    Request,
    Unsupported,
    describe_error,
    memories,
    memory,
)
from opcast_worker.caller import Caller

ROUNDS = 31
"""Measurements of each; their median is told. An odd number has one in the middle."""


def answer(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Return the medians of both in microseconds."""
    try:
        ours = bound(caller, request, blobs)
        theirs = replace(ours, function=foreign.resolve(request["target"]))
        timed = [turns.Timed(call, caller.wait, eager=False) for call in (ours, theirs)]
        turns.alike(timed, [call.warm() for call in timed])
        turns.take(timed, ROUNDS)
    except Unsupported as error:
        return {"unsupported": str(error)}, []
    except Exception as error:  # whatever a function raises is the answer
        return {"error": describe_error(error)}, []
    return {
        "ours": 1e-3 * sorted(timed[0].samples)[ROUNDS // 2],
        "theirs": 1e-3 * sorted(timed[1].samples)[ROUNDS // 2],
    }, []


def bound(caller: Caller, request: Request, blobs: list[bytes]) -> Bound:
    """Return the call of a request."""
    buffers = memories(blobs)

    def value(tagged: Request) -> Any:
        return caller.untag(tagged, lambda spec: caller.make(spec, memory(spec, buffers)))

    args = [value(v) for v in request["args"]]
    kwargs = {name: value(request["kwargs"][name]) for name in request["order"]}
    return caller.bind(request["op"], args, kwargs, [], tuple(request["mutated"]), [])
