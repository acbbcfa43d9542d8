"""Times an op and the peers that its author names, which is what ``opcast bench`` asks for."""

from __future__ import annotations

import importlib
import inspect
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import turns
from bound import Answer, Memory, Request, Unsupported, describe_error, memories, memory
from distance import distance
from host import NDArray, numpy_dtype
from lists import grouped, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from caller import Caller


@dataclass
class Peer:
    """A function of the author's and what became of it.

    Attributes
    ----------
    name, function
        What it is.
    call
        The function with its arguments, which a compiler may have made: it is made once.
    error
        Why it is not measured.
    distance
        How far its results are from the op's, as text, since it may be infinite.

    """

    name: str
    function: Any
    call: Any = None
    error: str = ""
    distance: str = ""
    slow: bool = False
    timed: turns.Timed | None = field(default=None)

    def told(self) -> Request:
        """Return it for the answer."""
        samples = self.timed.samples if self.timed else []
        return {
            "name": self.name,
            "error": self.error,
            "distance": self.distance,
            "slow": self.slow,
            "samples": samples,
        }


class Arguments:
    """The arguments of a call; what a call overwrites, each function has a copy of.

    Parameters
    ----------
    caller
        Makes arrays.
    request, blobs
        The call.

    """

    def __init__(self, caller: Caller, request: Request, blobs: list[bytes]) -> None:
        """Make them in memory that the framework itself has allocated."""
        buffers = memories(blobs)

        def array(spec: Request) -> Any:
            return caller.owned(caller.make(spec, memory(spec, buffers)))

        def value(tagged: Request) -> Any:
            return caller.untag(tagged, array)

        self.caller, self.request = caller, request
        self.arrays = [value(v) for v in request["args"]]
        self.settings = {name: value(request["kwargs"][name]) for name in request["order"]}
        self.attributes = {name: value(v) for name, v in request["attributes"].items()}

    def positional(self) -> list[Any]:
        """Return the arrays of one function by position, lists as lists."""
        own = self.caller.owned
        mutated = self.request["mutated"]
        arrays = [own(a) if i in mutated else a for i, a in enumerate(self.arrays)]
        lists = self.request["lists"]
        if not lists:
            return arrays
        missing = sum(max(count, 1) for _, count in lists["inputs"]) - len(arrays)
        return grouped(lists["inputs"], arrays + [None] * missing)

    def op(self) -> Callable[[], Any]:
        """Return the call of the op."""
        function = getattr(self.caller.package, self.request["op"])
        call, arrays = self.caller.prepared(function, self.settings), self.positional()
        return lambda: call(*arrays)

    def peer(self, function: Any) -> Callable[[], Any]:
        """Return the call of a peer with those arguments that its parameters name; parameters that are none are modules."""
        names: list[str] = self.request["names"]
        arrays = dict.fromkeys(names) | dict(zip(names, self.positional()))
        known = {**arrays, **self.attributes}
        settings: Request = {}
        for p in inspect.signature(function).parameters.values():
            if p.kind is p.VAR_KEYWORD:
                settings |= self.attributes
            elif p.name not in known and p.default is p.empty and p.kind is not p.VAR_POSITIONAL:
                settings[p.name] = importlib.import_module(p.name)
            elif p.name in self.attributes:
                settings[p.name] = self.attributes[p.name]
        given = wanted(function, arrays)
        call = self.caller.prepared(function, settings)
        return lambda: call(**given)


def wanted(function: Any, values: Request) -> Request:
    """Return the values that a function has parameters for."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return values
    names = {p.name for p in parameters}
    return {name: v for name, v in values.items() if name in names}


def answer(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Return the nanoseconds of every round, and what became of the peers."""
    try:
        caller.use_threads(request["threads"])
        arguments = Arguments(caller, request, blobs)
        del blobs
        return measured(caller, request, arguments), []
    except Unsupported as error:
        return {"unsupported": str(error)}, []
    except Exception as error:  # whatever the op raises is the answer
        return {"error": describe_error(error)}, []
    finally:
        turns.release()


def measured(caller: Caller, request: Request, arguments: Arguments) -> Request:
    """Hold the peers against the op, and time all that agree."""
    device = caller.config["device"]
    call = arguments.op()
    want = results(caller, request, call())
    peers, failed = named(caller, request)
    for peer in peers:
        judge(arguments, want, peer)
    want.clear()
    eager = device == "cpu"
    copy = turns.Copy(request["threads"]) if eager else copy_there(caller)
    timed = [turns.Timed(c, caller.wait, eager) for c in (call, copy)]
    accepted = [peer for peer in peers if not peer.error and close(request, peer)]
    for peer in accepted:
        peer.timed = turns.Timed(peer.call, caller.wait, eager)
        timed.append(peer.timed)
    rest = turns.REST if request["threads"] > 1 and eager else 0.0
    slow = turns.run(timed, request["rounds"], request["seconds"], rest)
    if isinstance(copy, turns.Copy):
        copy.close()
    for i in slow:
        accepted[i - 2].slow = True
    return {
        "samples": timed[0].samples,
        "copy": timed[1].samples,
        "copied": 2 * turns.COPIED,
        "peers": [peer.told() for peer in peers],
        "failed": failed,
    }


def copy_there(caller: Caller) -> Callable[[], Any]:
    """Return the copy of an array on the device under test."""
    spec = {"dtype": "uint8", "dlpack": [1, 8], "shape": [turns.COPIED], "strides": [1]}
    array = caller.make({**spec, "offset": 0, "blob": 0}, Memory(turns.COPIED))
    return lambda: caller.owned(array)


def named(caller: Caller, request: Request) -> tuple[list[Peer], str]:
    """Return the peers for the framework, or why there are none."""
    if not request["text"]:
        return [], ""
    try:
        scope: Request = {"xp": np, "np": np}
        exec(compile(request["text"], request["file"], "exec"), scope)
        found: Any = scope["peers"](caller.config["adaptor"]) or {}
        return [Peer(str(name), function) for name, function in dict(found).items()], ""
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
