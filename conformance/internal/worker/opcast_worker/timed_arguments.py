"""The arguments of a call that is timed, for the op and for its peers."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from copy import copy
from typing import Any

from opcast_worker.bound import Request, memories, memory
from opcast_worker.caller import Caller
from opcast_worker.lists import grouped


class Arguments:
    """The arguments of a call; what a call overwrites, each function has a copy of."""

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

    def copied(self) -> Arguments:
        """Return arguments with the same contents elsewhere."""
        other = copy(self)
        other.arrays = [a if a is None else self.caller.owned(a) for a in self.arrays]
        return other

    def size(self) -> int:
        """Return the bytes of all arrays."""
        return sum(int(a.nbytes) for a in self.arrays if a is not None)

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
        function = self.caller.whole(self.request["op"])
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
