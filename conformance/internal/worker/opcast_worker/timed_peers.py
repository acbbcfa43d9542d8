"""The peers of an op that its author names, and how far their results are from the op's."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from opcast_worker import gpu_clock, turns
from opcast_worker.bound import Request
from opcast_worker.caller import Caller
from opcast_worker.distance import distance
from opcast_worker.host import NDArray, numpy_dtype
from opcast_worker.lists import spread
from opcast_worker.timed_arguments import Arguments


@dataclass
class Peer:
    """A function of the author's and what became of it."""

    name: str
    function: Any
    """What it is."""
    call: Any = None
    """The function with its arguments, which a compiler may have made: it is made once."""
    error: str = ""
    """Why it is not measured."""
    distance: str = ""
    """How far its results are from the op's, as text, since it may be infinite."""
    slow: bool = False
    timed: turns.Timed | None = field(default=None)

    def told(self) -> Request:
        """Return it for the answer."""
        samples = self.timed.samples if self.timed else []
        on_gpu = gpu_clock.told(self.timed) if isinstance(self.timed, gpu_clock.Replayed) else {}
        return {
            "name": self.name,
            "error": self.error,
            "distance": self.distance,
            "slow": self.slow,
            "samples": samples,
            **on_gpu,
        }


def named(caller: Caller, request: Request) -> tuple[list[Peer], str]:
    """Return the peers for the framework and what its compiler makes of them, or why there are none."""
    if not request["text"]:
        return [], ""
    try:
        scope: Request = {"xp": np, "np": np}
        exec(compile(request["text"], request["file"], "exec"), scope)
        found = dict[str, Any](scope["peers"](caller.config["adaptor"]) or {})
        found |= caller.compiled_peers(found)
        return [Peer(str(name), function) for name, function in found.items()], ""
    except (Exception, SystemExit) as error:  # the author's module may raise anything, or end
        return [], reason(error)


def judge(arguments: Arguments, want: list[NDArray | None], peer: Peer) -> None:
    """Call a peer once and note how far its results are from the op's."""
    caller, request = arguments.caller, arguments.request
    try:
        peer.call = arguments.peer(peer.function)
        got = results(caller, request, peer.call())
        if len(got) != len(want):
            raise ValueError(f"expected {len(want)} results, got {len(got)}")
        farthest = 0.0
        for ours, theirs, slot in zip(want, got, request["slots"]):
            if ours is None or theirs is None:  # the peer does not say it
                continue
            rows = meant(want, slot)
            farthest = max(farthest, distance(ours[rows], theirs[rows], slot))
        peer.distance = repr(farthest)
    except (Exception, SystemExit) as error:  # of what the author has written
        peer.error = reason(error)


def meant(want: list[Any], slot: Request) -> Any:
    """Return which rows of a result mean anything: all, or as many as another result says."""
    counter: Any = want[slot["valid"]] if slot["valid"] >= 0 else None
    return ... if counter is None else slice(int(np.ravel(counter)[0]))


def close(request: Request, peer: Peer) -> bool:
    """Say whether the results of a peer are near enough: of others nobody wants to know the time."""
    return float(peer.distance or math.inf) <= request["farthest"]


def results(caller: Caller, request: Request, result: Any) -> list[NDArray | None]:
    """Return the results of a call as arrays of the host, those of lists one by one."""
    caller.wait(result)
    lists = request["lists"]
    several = isinstance(result, tuple if lists else (tuple, list))
    values: list[Any] = [*result] if several else [result]
    if lists:
        values = spread(lists["results"], values)
    return [None if v is None else on_host(caller, v) for v in values]


def on_host(caller: Caller, array: Any) -> NDArray:
    """Return an array of the framework as one of the host."""
    described, data = caller.read(array)
    return np.frombuffer(data, numpy_dtype(described["dtype"])).reshape(described["shape"])


def reason(error: BaseException) -> str:
    """Return an error in one line."""
    text = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {text}"[:300]
