"""Makes several calls at once, each over and over in a thread of its own."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from opcast_worker.bound import Answer, Request
from opcast_worker.caller import Caller

MOST = 3
"""How many different answers of a thread are told: one would be right."""

SWITCH = 1e-5
"""Seconds after which the interpreter lets another thread run."""


def answer(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Make the calls of the request; each brings the number of its first blob and of those after."""
    calls, repeat = request["calls"], request["repeat"]
    barrier = threading.Barrier(len(calls))
    told: list[list[Answer]] = [[] for _ in calls]
    broken: list[BaseException] = []

    def work(thread: int) -> None:
        one = calls[thread]
        barrier.wait()
        try:
            for _ in range(repeat):
                add_if_different(
                    told[thread], caller.call(one["call"], blobs[one["from"] : one["to"]])
                )
        except BaseException as error:  # it is raised again below
            broken.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(calls))]
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if broken:
        raise broken[0]
    answers: list[Request] = []
    data: list[bytes] = []
    for thread, different in enumerate(told):
        for body, parts in different:
            answers.append({"thread": thread, "body": body, "blobs": len(parts)})
            data.extend(parts)
    return {"answers": answers}, data


def add_if_different(told: list[Answer], fresh: Answer) -> None:
    """Add an answer that is unlike those which are known."""
    if len(told) < MOST and all(
        without_addresses(fresh) != without_addresses(known) for known in told
    ):
        told.append(fresh)


def without_addresses(answer: Answer) -> tuple[str, list[bytes]]:
    """Return an answer without what may differ: addresses, traces and the number of kernels that others started."""
    body, data = answer
    error: Any = body.get("error")
    outputs = [{k: v for k, v in o.items() if k != "span"} for o in body.get("outputs", [])]
    if error is not None:
        error = {k: v for k, v in error.items() if k != "trace"}
    return json.dumps([outputs, error, body.get("unsupported")]), data
