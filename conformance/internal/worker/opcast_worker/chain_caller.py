"""Calls several frameworks in one process and passes arrays between them through DLPack."""

from __future__ import annotations

import importlib
from typing import Any

from opcast_worker.bound import (
    Answer,
    Bound,
    Memory,
    Request,
    Unsupported,
    describe_error,
    memories,
    memory,
)
from opcast_worker.caller import Caller


class Chain:
    """Holds one caller for each framework that ``adaptors`` lists."""

    def __init__(self, config: Request) -> None:
        """Start the callers."""
        self.callers: dict[str, Caller] = {}
        for name in config["adaptors"]:
            module = importlib.import_module(f"opcast_worker.{name}_caller")
            self.callers[name] = module.create({**config, "adaptor": name})

    def greeting(self) -> Request:
        """Say who is here."""
        return {"version": ""}

    def chain(self, request: Request, blobs: list[bytes]) -> Answer:
        """Call in the first framework, hand the result over, call in the second."""
        first, second = self.callers[request["first"]], self.callers[request["second"]]
        buffers = memories(blobs)
        for caller in (first, second):
            if caller.missing:
                return {"unsupported": caller.missing}, []
        reply: Request = {"error": None, "calls": 0, "outputs": [], "arrays": []}
        try:
            result = outputs(run(first, request, buffers, {}))[request["take"]]
            dtype = first.read(result)[0]["dtype"]
            for caller in (first, second):
                if not caller.hands_over(dtype):
                    return {
                        "unsupported": f"{caller.word} hands no {dtype} over through DLPack"
                    }, []
            passed = second.receive(first.offer(result))
            reply["from"], reply["to"] = first.span(result)[0], second.span(passed)[0]
            fresh = memories(blobs)  # the result may lie in the memory of the first call
            final = run(second, request, fresh, {request["feed"]: passed})
        except Unsupported as error:
            return {"unsupported": str(error)}, []
        except Exception as error:  # whatever is raised is the answer
            return {**reply, "error": describe_error(error)}, []
        answer: list[bytes] = []
        for result in outputs(final):
            described, data = ({"none": True}, b"") if result is None else second.read(result)
            reply["outputs"].append({**described, "given": -1, "same": -1})
            answer.append(data)
        return reply, answer


def run(caller: Caller, request: Request, buffers: list[Memory], given: dict[int, Any]) -> Any:
    """Call the op in one framework; given replaces arguments by position."""

    def value(tagged: Request) -> Any:
        return caller.untag(tagged, lambda spec: caller.make(spec, memory(spec, buffers)))

    caller.lists = request["lists"]
    args = [given[i] if i in given else value(v) for i, v in enumerate(request["args"])]
    kwargs = {name: value(v) for name, v in request["kwargs"].items()}
    return caller.invoke(Bound(caller.function(request["op"]), args, kwargs, caller.kind), "eager")


def outputs(result: Any) -> list[Any]:
    """Return the results of a call, whatever their number."""
    return [*result] if isinstance(result, (tuple, list)) else [result]  # pyright: ignore[reportUnknownVariableType]


def create(config: Request) -> Chain:
    """Return the holder of the callers."""
    return Chain(config)
