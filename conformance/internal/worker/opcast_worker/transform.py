"""What the frameworks' sides of the group Transformations share: requests, calls, what came of them.

A request names a *way*: a function of the framework's module that transforms the op and calls what it gets, once for
each set of arrays in the request. Expectations are none of this side's business: it reports arrays, launches and facts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from opcast_worker import warm
from opcast_worker.bound import (
    Answer,
    Memory,
    Request,
    Unsupported,
    describe_error,
    memories,
    memory,
)
from opcast_worker.caller import Caller
from opcast_worker.lists import leaves


@dataclass(frozen=True)
class Arrays:
    """The arrays of one call."""

    inputs: list[Any]
    """Those that the function takes."""
    cotangents: list[Any]
    """One for each result; None where the result takes no part."""


@dataclass
class Task:
    """What a way is to do."""

    caller: Any
    """The framework."""
    op: str
    """Name of the op."""
    options: Request
    """What the way needs to know."""
    watched: list[str]
    """The ops whose kernel launches are counted."""
    calls: list[Arrays] = field(default_factory=list[Arrays])
    """The arrays, per call."""
    function: Callable[..., tuple[Any, ...]] = field(init=False)
    """The op as a function of its arrays alone; it gives a tuple of the results that exist."""
    finish: Callable[[Any], Any] = field(init=False)
    """Waits for the arrays of a result."""
    facts: Request = field(default_factory=dict[str, Any])
    done: list[Request] = field(default_factory=list[Request])
    blobs: list[bytes] = field(default_factory=list[bytes])

    def run(self, function: Callable[[], Any], way: str = "") -> Any:
        """Make a call in a way; its results, its error and its launches are part of the answer."""
        reply: Request = {"way": way, "error": None, "outputs": [], "launches": {}}
        self.done.append(reply)
        count = self.caller.native["_opcast_calls"]
        before = [count(op) for op in self.watched]
        result = None
        try:
            result = self.finish(function())
        except Unsupported:
            raise
        except Exception as error:  # whatever is raised is the answer
            reply["error"] = describe_error(error)
        reply["launches"] = {op: count(op) - n for op, n in zip(self.watched, before)}
        for array in () if result is None else leaves(result):
            if array is None:
                reply["outputs"].append({"none": True})
                continue
            described, data = self.caller.read(array)
            reply["outputs"].append(described)
            self.blobs.append(data)
        return result

    def each(self, function: Callable[[Arrays], Any], way: str = "") -> None:
        """Make a call in a way with every set of arrays."""
        for arrays in self.calls:
            self.run(lambda arrays=arrays: function(arrays), way)

    def run_all(self, ways: dict[str, Callable[..., Any]], *values: Any) -> None:
        """Make a call of these values in every way: the suite expects the same of each."""
        for way, function in ways.items():
            self.run(lambda function=function: function(*values), way)


def answer(
    caller: Caller, ways: dict[str, Any], finish: Any, request: Request, blobs: list[bytes]
) -> Answer:
    """Do what a request asks for."""
    caller.lists = request["lists"]
    buffers = memories(blobs)

    def value(tagged: Request, buffers: list[Memory] = buffers) -> Any:
        if "array" in tagged:
            return caller.make(tagged["array"], memory(tagged["array"], buffers))
        return caller.untag(tagged, partial(value, buffers=buffers))

    task = Task(caller, request["op"], options=request["options"], watched=request["watched"])
    task.finish = finish
    fault = None
    try:
        task.calls = [
            Arrays([value(v) for v in call["inputs"]], [value(v) for v in call["cotangents"]])
            for call in request["calls"]
        ]
        task.function = bind(caller, request)
        for call in request["calls"]:
            warm.up(caller.config, partial(apart, task, call, value, blobs))
        force(caller, request, request["kernel"])
        way: str = request["way"]
        ways[way](task)
    except Unsupported as error:
        return {"unsupported": str(error)}, []
    except Exception as error:  # a transformation that fails is an answer, too
        fault = describe_error(error)
    finally:
        force(caller, request, "")
    return {"error": fault, "calls": task.done, "facts": task.facts}, task.blobs


def apart(task: Task, call: Request, value: Any, blobs: list[bytes]) -> Callable[[], Any]:
    """Return a plain call of the op on arrays of its own."""
    buffers = memories(blobs)
    return partial(task.function, *[value(v, buffers) for v in call["inputs"]])


def force(caller: Caller, request: Request, kernel: str) -> None:
    """Let the op run one kernel; none lets it choose again."""
    if request["kernel"]:
        caller.native["_opcast_force"](request["op"], kernel)


def bind(caller: Caller, request: Request) -> Callable[..., tuple[Any, ...]]:
    """Return the op as a function of the arrays that the request leaves open."""
    op = caller.function(request["op"])
    fixed = [None if "slot" in v else caller.untag(v, no_array) for v in request["args"]]
    slots = [v["slot"] if "slot" in v else -1 for v in request["args"]]
    kwargs = {name: caller.untag(v, no_array) for name, v in request["kwargs"].items()}

    def function(*arrays: Any) -> tuple[Any, ...]:
        args = [arrays[slot] if slot >= 0 else value for slot, value in zip(slots, fixed)]
        result = op(*args, **kwargs)
        results = result if isinstance(result, (tuple, list)) else (result,)  # pyright: ignore[reportUnknownVariableType]
        return tuple(r for r in results if r is not None)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    function.__name__ = function.__qualname__ = request["op"]
    return function


def no_array(tagged: Request) -> Any:
    """Refuse an array where only calls have arrays."""
    raise TypeError(f"an array outside of a call: {tagged}")
