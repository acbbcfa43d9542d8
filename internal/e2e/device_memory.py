"""Makes calls of the suite in several threads at once, with arrays on a device: each has the contents of its own call.

The device keeps what it is given, and lets other threads run meanwhile.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from opcast_worker import gpu_memory
from opcast_worker.backend_caller import Backend
from opcast_worker.bound import Unsupported
from opcast_worker.threads import answer

CALLS, REPEAT = 8, 2000


class Kept:
    """Memory of the device."""

    def __init__(self, data: bytes | bytearray) -> None:
        """Copy the data."""
        time.sleep(0)
        self.data = bytes(data)
        self.pointer = self

    value = 0


class Device:
    """A device without a driver."""

    @staticmethod
    def buffer(data: bytes | bytearray) -> Kept:
        """Return memory with some bytes."""
        return Kept(data)


class Calls(Backend):
    """A caller that looks at the arrays of a call instead of calling."""

    def __init__(self) -> None:
        """Import nothing."""
        self.config = {"device": "cuda:0"}
        self.lists = None

    def bind(
        self, op: str, args: list[Any], kwargs: Any, out: Any, mutated: Any, scratch: Any
    ) -> Any:
        """Compare what arrays hold, here and on the device."""
        del op, kwargs, out, mutated, scratch
        for array in args:
            if array.memory.data != bytes(array.data):
                raise AssertionError("an array has the contents of another call")
        raise Unsupported("this was all")


def request(number: int) -> dict[str, Any]:
    """Return a call with three arrays over two buffers."""
    spec = {"dtype": "uint8", "dlpack": [1, 8], "shape": [8], "strides": [1], "offset": 0}
    arrays = [{**spec, "blob": b, "index": i, "twin": -1} for i, b in enumerate([0, 1, 0])]
    call: dict[str, Any] = {
        "args": [{"array": a} for a in arrays],
        "kwargs": {},
        "order": [],
        "out": [],
    }
    call |= {"lists": None, "op": "", "scratch": [], "mutated": [], "options": {"none": None}}
    return {"call": call, "from": 2 * number, "to": 2 * number + 2}


gpu_memory.driver = lambda device: Device()  # pyright: ignore
blobs = [bytes([i] * 8) for i in range(2 * CALLS)]
said, _ = answer(Calls(), {"calls": [request(i) for i in range(CALLS)], "repeat": REPEAT}, blobs)
words = [a["body"].get("unsupported") for a in said["answers"]]
if words != ["this was all"] * CALLS:
    sys.exit(f"answers: {said}")
