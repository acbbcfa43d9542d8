"""Calls of exports on streams of the driver and in graphs: what a C++ program does."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

from opcast_worker import dlpack, gpu_memory
from opcast_worker.bound import Bound, Report
from opcast_worker.caller import Caller
from opcast_worker.dlpack import Array
from opcast_worker.streams import results, substituted

NON_BLOCKING, RELAXED = 1, 2
DELAY, ROUNDS = 256 << 20, 60
"""So many bytes are set so many times before the arguments arrive: some milliseconds."""


class Streams:
    """Probes of the order of work on the device."""

    def __init__(self, device: str) -> None:
        """Keep the driver of the device."""
        self.driver, self.place = gpu_memory.driver(device), dlpack.placed(device)

    def stream(self) -> ctypes.c_void_p:
        """Return a new stream that does not wait for the default one."""
        stream = ctypes.c_void_p()
        self.driver("cuStreamCreate", ctypes.byref(stream), NON_BLOCKING)
        return stream

    def call(self, call: Bound, stream: ctypes.c_void_p) -> list[Any]:
        """Call on a stream."""
        tvm_ffi: Any = importlib.import_module("tvm_ffi")
        with tvm_ffi.use_raw_stream(tvm_ffi.device(*self.place), stream.value):
            return results(call())

    def probe_side_stream(self, call: Bound) -> Any:
        """Call on a side stream, right behind the producer of the arguments."""
        driver, stream = self.driver, self.stream()
        changed, pairs = substituted(call, self.zeros)
        if not driver.emulated:  # which runs a stream when something waits for it, and not before
            busy = driver.buffer(bytes(DELAY))
            size = ctypes.c_size_t(DELAY)
            for _ in range(ROUNDS):
                driver("cuMemsetD8Async", busy.pointer, ctypes.c_ubyte(0), size, stream)
        fill(pairs, stream)
        made = self.call(changed, stream)
        driver.finish()
        return made

    def probe_graph_replayed(self, call: Bound) -> Any:
        """Capture a call in a graph, give its arguments other contents, and replay it twice."""
        driver, stream = self.driver, self.stream()
        changed, pairs = substituted(call, self.zeros)
        self.call(changed, stream)
        driver.finish()
        graph, ready = ctypes.c_void_p(), ctypes.c_void_p()
        driver("cuStreamBeginCapture_v2", stream, RELAXED)
        try:
            made = self.call(changed, stream)
        finally:
            driver("cuStreamEndCapture", stream, ctypes.byref(graph))
        flags = ctypes.c_ulonglong(0)
        driver("cuGraphInstantiateWithFlags", ctypes.byref(ready), graph, flags)
        replays: list[list[bytes]] = []
        for _ in range(2):
            fill(pairs, stream)
            driver("cuGraphLaunch", ready, stream)
            driver.finish()
            replays.append([b"" if r is None else bytes(r.contents()) for r in made])
        return Report(made, {"the second replay agrees": replays[0] == replays[1]})

    def zeros(self, x: Array) -> Array:
        """Return an array like another one over memory of its own that is full of zeros."""
        memory = self.driver.buffer(bytes(len(x.data)))
        return Array(x.data, x.dtype, x.shape, x.strides, x.offset, x.device, memory)


def fill(pairs: list[tuple[Any, Any]], stream: ctypes.c_void_p) -> None:
    """Copy the contents on the device, in the order of a stream."""
    for new, old in pairs:
        if old.data:
            old.memory.copy_to(new.memory, stream)


def create(caller: Caller) -> Streams:
    """Return the probes, on the caller's device."""
    return Streams(caller.config["device"])
