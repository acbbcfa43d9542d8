"""Calls of a collection on emulated devices of AMD's, in each of which one call of the driver fails.

Each call is made in a process of its own, since what a library knows of devices lasts as long as one. Prints how many faults there
were, and by them which functions of HIP failed.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from opcast_worker.dlpack import ROCM, Array
from opcast_worker.gpu_memory import driver_of

backend: Any = importlib.import_module("waves_backend")
library: Any = driver_of("rocm").library
library.cuEmulatorCalls.restype = library.cuEmulatorAlive.restype = ctypes.c_int64
library.cuEmulatorReadRecord.restype = ctypes.c_char_p
UNKNOWN = 999
SUMS = [3, 12]
ran: list[None] = []
"""An item for each call of the registered kernel."""


def expect(got: object, want: object) -> None:
    """Compare what was found with what should be."""
    assert got == want, f"got {got!r}, want {want!r}"


def use(device: int) -> None:
    """Make a device that of the thread."""
    expect(library.hipSetDevice(device), 0)


def used() -> int:
    """Return the device of the thread."""
    device = ctypes.c_int(-1)
    expect(library.hipGetDevice(ctypes.byref(device)), 0)
    return device.value


def placed(values: list[float], shape: list[int], strides: list[int], device: int) -> Array:
    """Return an array of float32 in memory of a device, which becomes that of the thread."""
    data = bytearray(np.array(values, np.float32).tobytes())
    use(device)
    return Array(data, (2, 32), shape, strides, 0, (ROCM, device), driver_of("rocm").buffer(data))


def mine(y: Any, x: Any) -> None:
    """Stand for a kernel of the caller's."""
    del x, y
    ran.append(None)


class Call:
    """A call of the op with arrays of its own, while a device is that of the thread."""

    def __init__(self, kernel: str, device: int, thread: int) -> None:
        """Make the arrays."""
        self.kernel, self.device, self.thread = kernel, device, thread
        self.x = placed([1, 2, 4, 8], [2, 2], [2, 1], device)
        self.y = placed([0, 0], [2], [1], device)
        use(thread)

    def error(self) -> str:
        """Make the call, and return its error."""
        try:
            with backend.use_kernel("total", self.kernel):
                backend.op_call("total", [self.x], [self.y])
        except Exception as refused:
            return str(refused)
        return ""

    def works(self) -> None:
        """Expect the call to work, and nothing around it to change."""
        use(self.device)
        assert self.y.memory is not None
        self.y.memory.write(bytes(8))
        use(self.thread)
        before = len(ran)
        expect(self.error(), "")
        expect(used(), self.thread)
        expect(library.hipGetLastError(), 0)
        use(self.device)
        expect(len(ran) - before, int(self.kernel == "mine"))
        if self.kernel != "mine":
            expect(np.frombuffer(bytes(self.y.contents()), np.float32).tolist(), SUMS)
        use(self.thread)


def fault(call: Call, n: int) -> list[str]:
    """Have the n-th call of the driver fail, and return the functions of HIP that do; none if there are fewer calls.

    Each makes the call fail, but for the last hipSetDevice, with which what was current comes back: the call has done its work.
    """
    alive, calls = library.cuEmulatorAlive(), library.cuEmulatorCalls()
    library.cuEmulatorBeginRecord()
    library.cuEmulatorFail(ctypes.c_int64(n), UNKNOWN)
    error = call.error()
    lines = library.cuEmulatorReadRecord().decode().splitlines()
    happened = library.cuEmulatorCalls() - calls > n
    library.cuEmulatorFail(ctypes.c_int64(-1), UNKNOWN)  # none of what follows
    restoring = "hipSetDevice" in lines and lines[-1] == "! hipSetDevice"
    if happened and not restoring:
        expect((error[:7], error[-13:]), ("total: ", "unknown error"))
    else:
        expect(error, "")
    expect(library.hipGetLastError(), 0)
    expect(used(), call.device if restoring else call.thread)
    expect(library.cuEmulatorAlive(), alive)
    call.works()
    return [line[2:] for line in lines if line.startswith("! hip")] if happened else []


def in_child(test: Callable[[], list[str]]) -> list[str]:
    """Return what a function returns in a process that has made no call yet."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writes, json.dumps(test()).encode())
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    os.close(writes)
    answer = os.read(reads, 1 << 12)
    os.close(reads)
    expect(os.waitpid(child, 0)[1], 0)
    return json.loads(answer)


def tried(kernel: str, device: int, thread: int, n: int, *, later: bool) -> list[str]:
    """Make a call, the first of the process or a later one, that fails in its n-th call of the driver."""
    call = Call(kernel, device, thread)
    if later:
        call.works()
    try:
        return fault(call, n)
    except AssertionError as error:
        where = f"{kernel} on device {device}, thread on {thread}, later {later}, fault {n}"
        raise AssertionError(f"{where}: {error}") from None


def fails(kernel: str, device: int, thread: int, *, later: bool) -> list[list[str]]:
    """Have each call of the driver fail in turn, and return the functions of HIP that each time do."""
    found: list[list[str]] = []
    while True:
        functions = in_child(lambda: tried(kernel, device, thread, len(found), later=later))
        if not functions:
            return found
        found.append(functions)


faults: list[list[str]] = []
with backend.register_kernel("total", mine, name="mine", device="rocm", framework="dlpack"):
    for kernel, device in (("total_wide", 0), ("total", 1), ("mine", 1)):
        for thread, later in itertools.product((0, 1), (False, True)):
            found = fails(kernel, device, thread, later=later)
            assert found, "nothing has failed"
            faults += found
print(len(faults), *sorted(set(itertools.chain(*faults))))
