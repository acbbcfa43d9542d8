"""One wrong argument among those of an export: how scripts repeat a random call that was made from Go."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

from opcast_worker.bound import Bound, Probes
from opcast_worker.dlpack import CPU, Array

OTHERS = {
    "nothing": None,
    "an int": -1,
    "a bool": True,
    "a float": 1.5,
    "a text": "nonsense",
}
"""Values by the names that the suite gives them."""


class Mangled(Probes):
    """The probe of calls that the suite mangles."""

    def probe_call(self, call: Bound) -> Any:
        """Change the argument that the options name, as the process does that calls from Go."""
        args = list(call.args)
        at, how = call.options["at"] % len(args), call.options["as"]
        if how == "missing":
            del args[at]
        elif how == "twice":
            args.insert(at, args[at])
        else:
            args[at] = changed(args[at], how)
        return replace(call, args=args)()


def changed(value: Any, how: str) -> Any:
    """Return what stands in the place of an argument."""
    if how == "a list":  # which Go passes as an array
        return Array(bytearray(struct.pack("2q", 3, -1)), (0, 64), [2], [1], 0, (CPU, 0))
    if how in OTHERS:
        return OTHERS[how]
    if isinstance(value, Array) and how == "null memory":
        return value.without_memory()
    if isinstance(value, Array) and how == "a negative size" and value.shape:
        return value.like(shape=[*value.shape[:-1], -1])
    return value


create = Mangled
