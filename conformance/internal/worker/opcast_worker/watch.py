"""Probes that watch a call from outside, the same for every framework: pointers, distant rows, fences, warnings."""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from opcast_worker import bound, lists
from opcast_worker.bound import Bound, Memory, Probes, Report, Request, Unsupported
from opcast_worker.gpu_memory import kind_of
from opcast_worker.lists import leaves


class KernelView(Probes):
    """Probes of what a call does beside computing.

    Their options say how many arrays come before the inputs (``first``), and how many there are.
    """

    def probe_pointers(self, call: Bound) -> Any:
        """Note where the kernel's arrays lie, and where the caller's do.

        A kernel that computes nothing stands in for those of the library: it comes before them.
        """
        seen: list[int] = []

        def kernel(*arrays: Any, **_: Any) -> None:
            seen[:] = [0 if a is None else a.data_ptr() for a in leaves(arrays)]

        try:
            register = self.caller.backend.register_kernel
        except AttributeError:
            raise Unsupported("the backend cannot show what its kernels get") from None
        first, count = call.options["first"], call.options["inputs"]
        outs: Any = call.kwargs.get("out")
        if outs is None:
            outs = call.args[:first]
        outs = [*outs] if isinstance(outs, (tuple, list)) else [outs]  # pyright: ignore[reportUnknownArgumentType]
        kind = kind_of(self.caller.config["device"])
        with register(call.op, kernel, name="watching", device=kind, framework="dlpack"):
            result = self.caller.invoke(call, "eager")
        # A missing array at the end may be left out.
        inputs = (call.args[first : first + count] + [None] * count)[:count]
        given = {"outputs": self.places(outs), "inputs": self.places(inputs)}
        return Report(result, {"seen": seen, **given})

    def places(self, arrays: list[Any]) -> list[int]:
        """Return the first address of each array, zero for what is absent."""
        return [self.caller.span(a)[0] if isinstance(a, self.caller.kind) else 0 for a in arrays]

    def probe_kept(self, call: Bound) -> Any:
        """Note which results are others after a further call, in which inputs (``turn``) have their elements reversed."""
        result = self.caller.invoke(call, "eager")
        listed: list[Any] = [*result] if isinstance(result, (tuple, list)) else [result]  # pyright: ignore[reportUnknownArgumentType]
        own = {
            i: r
            for i, r in enumerate(listed)
            if r is not None and not any(r is a for a in call.args)
        }
        before = {i: self.caller.read(r)[1] for i, r in own.items()}
        args = list(call.args)
        for i in call.options["turn"]:
            args[call.options["first"] + i] = self.turned(args[call.options["first"] + i])
        later = self.caller.invoke(replace(call, args=args), "eager")
        changed = [i for i, r in own.items() if self.caller.read(r)[1] != before[i]]
        del later  # not before: what is freed may be handed out again
        return Report(result, {"changed": changed})

    def turned(self, array: Any) -> Any:
        """Return a dense array with the elements of another one in reversed order."""
        described, data = self.caller.read(array)
        spec, size = self.dense(described)
        return self.caller.make(spec, Memory(np.frombuffer(data, f"V{size}")[::-1].tobytes()))

    def dense(self, described: Request) -> tuple[Request, int]:
        """Return what makes a dense array of the same dtype and shape, and the bytes of an element."""
        dtype, shape = described["dtype"], list[int](described["shape"])
        known = self.caller.config["dtypes"]
        code, bits = next((d["code"], d["bits"]) for d in known if d["name"] == dtype)
        strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        spec: Request = {"dtype": dtype, "dlpack": [code, bits], "shape": shape}
        return spec | {"strides": strides, "offset": 0, "index": 0, "twin": 0}, bits // 8

    def probe_far(self, call: Bound) -> Any:
        """Move the rows of one input further apart than 32-bit numbers of elements reach.

        Most of the memory between them is never touched, so the machine need not have it.
        """
        at, axis = call.options["first"] + call.options["input"], call.options["axis"]
        described, data = self.caller.read(call.args[at])
        spec, size = self.dense(described)
        shape: list[int] = spec["shape"]
        strides: list[int] = spec["strides"]
        strides[axis] = call.options["stride"]
        memory = reserved(size * (1 + sum((n - 1) * s for n, s in zip(shape, strides))))
        element = np.dtype(f"V{size}")
        rows = np.ndarray(shape, element, memory, 0, [s * size for s in strides])
        rows[...] = np.frombuffer(data, element).reshape(shape)
        made = self.caller.make(spec, memory)
        args = [*call.args[:at], made, *call.args[at + 1 :]]
        return self.caller.invoke(replace(call, args=args), "eager")

    def probe_edge(self, call: Bound) -> Any:
        """Move the inputs to where no memory follows them or, with ``before``, comes before them."""
        kept: list[Fenced] = []
        args = list(call.args)
        for i in call.options["moved"]:
            at = call.options["first"] + i
            described, data = self.caller.read(args[at])
            spec, size = self.dense(described)
            fenced = Fenced(data, before=call.options["before"])
            kept.append(fenced)
            args[at] = self.caller.make(spec | {"offset": fenced.offset // size}, fenced.memory)
        return self.caller.invoke(replace(call, args=args), "eager")

    def probe_warnings(self, call: Bound) -> Any:
        """Note which warnings a call gives, and whether they point at its caller."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = self.caller.invoke(call, "eager")
        places = {bound.__file__, lists.__file__}  # those of ops, and of ops that take lists
        noted = [[w.category.__name__, str(w.message), w.filename in places] for w in caught]
        return Report(result, {"warnings": noted})


class Fenced:
    """Bytes at the end of memory, or at its beginning, beside a page that nobody may touch."""

    def __init__(self, data: bytes, *, before: bool) -> None:
        page = mmap.PAGESIZE
        room = -(-len(data) // page) * page
        self.memory = mmap.mmap(-1, room + page)
        self.offset = page if before else room - len(data)
        self.memory[self.offset : self.offset + len(data)] = data
        start = np.frombuffer(self.memory, np.uint8).ctypes.data
        fence = ctypes.c_void_p(start if before else start + room)
        if ctypes.CDLL(None, use_errno=True).mprotect(fence, ctypes.c_size_t(page), 0):
            raise Unsupported(f"mprotect: {os.strerror(ctypes.get_errno())}")


def reserved(size: int) -> Any:
    """Return writable memory that the machine provides page by page when it is touched."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    if sys.platform != "linux":
        raise Unsupported("only Linux reserves memory without providing it")
    try:
        return mmap.mmap(-1, size, flags=flags)
    except OSError as error:
        raise Unsupported(f"{size} bytes of address space: {error}") from None


create = KernelView
