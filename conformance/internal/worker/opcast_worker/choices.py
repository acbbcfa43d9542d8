"""Times a kernel with each choice of its parameters, which is what ``opcast tune`` asks for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from opcast_worker import dlpack, turns
from opcast_worker.bound import Answer, Request, Unsupported, describe_error
from opcast_worker.caller import Caller
from opcast_worker.timed_arguments import Arguments

BEST = 6
"""Choices that are sampled in all rounds: those that were fastest in the first ones, and the default."""

FIRST = 2
"""Rounds of all choices."""


def answer(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Return the nanoseconds of every round for each choice; those of choices that fell behind end after the first rounds."""
    try:
        caller.use_threads(request["threads"])
        call = Arguments(caller, request, blobs).op()
        call()  # an error of the call itself is none of a choice
        kind, number = dlpack.placed(caller.config["device"])
        choices = [Choice(caller, request["op"], kernel, call) for kernel in request["kernels"]]
        rest = turns.REST if request["threads"] > 1 and kind == dlpack.CPU else 0.0
        run(choices, request["rounds"], request["seconds"], rest)
        arch: str = caller.native["_opcast_arch"](kind, number)
        return {"arch": arch, "samples": [c.samples for c in choices]}, []
    except Unsupported as error:
        return {"unsupported": str(error)}, []
    except Exception as error:  # whatever the op raises is the answer
        return {"error": describe_error(error)}, []
    finally:
        caller.native["_opcast_force"](request["op"], "")
        turns.release()


class Choice(turns.Timed):
    """The call of a kernel with some parameters, which stand in brackets behind its name."""

    def __init__(self, caller: Caller, op: str, kernel: str, call: Callable[[], Any]) -> None:
        """Remember what to call."""
        super().__init__(call, caller.wait, caller.config["device"] == "cpu")
        self.force = lambda: caller.native["_opcast_force"](op, kernel)

    def stretch(self, number: int) -> float:
        """Return nanoseconds per call of a number of calls in a row by the kernel with these parameters."""
        self.force()
        return super().stretch(number)


def run(choices: list[Choice], rounds: int, seconds: float, rest: float) -> None:
    """Fill the samples: sample i of all choices that have one comes from round i."""
    turns.alike(choices, [choice.warm() for choice in choices])
    end = time.monotonic() + seconds
    turns.take(choices, FIRST, rest=rest)
    fastest = sorted(choices, key=lambda c: min(c.samples))[:BEST]
    running = [c for c in choices if c in fastest or c is choices[0]]
    more, left = max(rounds, turns.LEAST) - FIRST, end - time.monotonic()
    turns.take(running, more, left, rest, turns.LEAST - FIRST)
