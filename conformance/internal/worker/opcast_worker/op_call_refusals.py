"""Calls by number with kinds, counts and attrs that do not exist. Each must raise an error of ours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opcast_worker.bound import Bound, Probes
from opcast_worker.lists import grouped


class Refusals(Probes):
    """Probes of calls that are wrong by number or name."""

    def parts(self, call: Bound) -> tuple[int, list[Any], list[Any]]:
        """Return the op's number, and the inputs and outputs of a call."""
        op = self.caller.info(call.op)
        count, lists = len(op.outputs), self.caller.lists
        inputs, outputs = call.args[count:], call.args[:count]
        if lists:
            inputs, outputs = grouped(lists["inputs"], inputs), grouped(lists["outputs"], outputs)
        return op.kind, inputs, outputs

    def probe_unknown_kind(self, call: Bound) -> Any:
        """Pass a number that no op has."""
        _, inputs, outputs = self.parts(call)
        return self.caller.backend.op_call(1 << 40, inputs, outputs, call.kwargs)

    def probe_negative_kind(self, call: Bound) -> Any:
        """Pass a negative number."""
        _, inputs, outputs = self.parts(call)
        return self.caller.backend.op_call(-1, inputs, outputs, call.kwargs)

    def probe_unknown_attr(self, call: Bound) -> Any:
        """Pass an attr that the op does not have."""
        return replace(call, kwargs={**call.kwargs, "no_such_attribute": 1})()

    def probe_no_inputs(self, call: Bound) -> Any:
        """Pass no inputs at all."""
        kind, _, outputs = self.parts(call)
        return self.caller.backend.op_call(kind, [], outputs, call.kwargs)

    def probe_many_inputs(self, call: Bound) -> Any:
        """Pass the inputs twice."""
        kind, inputs, outputs = self.parts(call)
        return self.caller.backend.op_call(kind, [*inputs, *inputs], outputs, call.kwargs)

    def probe_many_outputs(self, call: Bound) -> Any:
        """Pass more arrays for outputs than the op has."""
        kind, inputs, outputs = self.parts(call)
        return self.caller.backend.op_call(kind, inputs, [*outputs, *inputs[:1]], call.kwargs)

    def probe_many_scratch(self, call: Bound) -> Any:
        """Pass more scratch than the op has."""
        kind, inputs, outputs = self.parts(call)
        return self.caller.backend.op_call(kind, inputs, outputs, call.kwargs, inputs[:1] * 9)


create = Refusals
