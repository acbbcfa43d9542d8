"""Probes that repeat a call and watch what the process keeps: memory, objects, references."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opcast_worker.bound import REFUSED, Bound, Probes, Report, Unsupported

ROUNDS = 3
"""What grows in one round may be a cache; what leaks grows in all."""


LEAST = 100
"""Calls in a round, however slow they are."""


MMAP_THRESHOLD = -3
"""Name of mallopt, ``M_MMAP_THRESHOLD``: what is larger is mapped alone."""


STACK = 8 << 20
"""Bytes of the stack of a thread."""


class Leaks(Probes):
    """Probes of many calls."""

    copy: Any = None

    def probe_leaks(self, call: Bound) -> Any:
        """Repeat a call, right or wrong, and note what the process has after each round.

        The options say how many calls are made in all (``calls``), and after how many seconds fewer are enough
        (``seconds``; zero for never).
        """
        calls, seconds = call.options["calls"], call.options["seconds"]
        arrays = [*call.arrays(), *(a for a in call.kwargs.values() if isinstance(a, call.kind))]
        live = allocated()

        def once() -> str:
            # A function of its own, so that no exception and no result outlives the call.
            try:
                self.caller.invoke(call, "eager")
            except Unsupported:
                raise
            except Exception as error:  # the wrong call is part of what is watched
                return type(error).__name__
            return ""

        def state() -> dict[str, int]:
            gc.collect()
            return {
                "blocks": sys.getallocatedblocks(),
                "references": sum(sys.getrefcount(a) for a in arrays),
            } | ({"live": live()} if live else {})

        raised = once()
        start = time.perf_counter()
        warm = max(calls // 50, 20)
        for _ in range(warm):
            once()
        took = (time.perf_counter() - start) / warm
        count = max(calls // ROUNDS, 1)
        if seconds:
            count = max(min(count, int(seconds / took / ROUNDS)), min(count, LEAST))
        gc.freeze()  # so that the collector looks at what these calls make, and at nothing else
        state()  # what it makes itself is there from now on
        states = [state()]
        for _ in range(ROUNDS):
            for _ in range(count):
                once()
            states.append(state())
        gc.unfreeze()
        unseen = "" if live else "malloc is not watched here: that needs glibc 2.33 or later"
        notes = {"raised": raised, "calls": count * ROUNDS, "states": states, "unseen": unseen}
        return Report((), notes)

    def probe_bounded(self, call: Bound) -> Any:
        """Make a call with at most so many ``bytes`` beside what the process has, and note whether they were too few.

        Threads that the call starts have their stacks besides.
        """
        status = Path("/proc/self/status")
        if not allocated() or "VmData:" not in status.read_text():
            raise Unsupported(
                "the memory of the process cannot be limited: that needs glibc 2.33 or later"
            )
        heap = ctypes.CDLL(None)
        heap.mallopt(MMAP_THRESHOLD, 1 << 20)  # so that what is freed goes back, and counts again
        heap.malloc_trim(0)
        used = int(status.read_text().split("VmData:")[1].split()[0]) << 10
        stacks = (os.cpu_count() or 1) * STACK
        before = resource.getrlimit(resource.RLIMIT_DATA)
        limit = used + call.options["bytes"] + stacks
        if any(other != resource.RLIM_INFINITY and other < limit for other in before):
            raise Unsupported("the process may have less memory than the call needs for this check")
        resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
        try:
            self.caller.invoke(call, "eager")
        except REFUSED:
            raise
        except Exception as error:  # of the library, in its own words
            return Report((), {"short": f"{type(error).__name__}: {error}"})
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, before)
        return Report((), {"short": ""})

    def probe_copies(self, call: Bound) -> Any:
        """Make the call through a second copy of the library in this process, then through the first again."""
        first = call.options["first"]
        if self.copy is None:
            with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:
                path = Path(folder) / "libcopy.so"
                shutil.copy(str(self.caller.backend.library_path()), path)
                self.copy = importlib.import_module("tvm_ffi").load_module(str(path))
        lists = self.caller.lists
        self.copy[call.op](*(lists["lengths"] if lists else ()), *call.args)
        written = [*call.args[:first], *(call.args[i] for i in call.mutated)]
        before = [self.caller.read(a)[1] for a in written if a is not None]
        if not call.mutated:
            call()
            if before != [self.caller.read(a)[1] for a in written if a is not None]:
                raise AssertionError("the library and its copy give different bits")
        return written


class MallInfo(ctypes.Structure):
    """What glibc's mallinfo2 returns."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "free",
            "small",
            "mapped",
            "mapped_bytes",
            "unused1",
            "unused2",
            "used",
            "unused3",
            "top",
        )
    ]


def allocated() -> Callable[[], int] | None:
    """Return a function that tells how many bytes malloc has given out; None where nobody can tell."""
    try:
        info = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return None
    info.restype = MallInfo

    def measure() -> int:
        got = info()
        return got.used + got.mapped_bytes

    return measure


create = Leaks
