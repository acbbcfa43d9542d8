"""Measures what a call of tiny arrays costs beside the bare call of the export, which ``opcast bench --suite calls`` asks for."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from opcast_worker import turns
from opcast_worker.bound import Answer, Request, Unsupported, describe_error, memories, memory
from opcast_worker.caller import Caller
from opcast_worker.dlpack import CPU, Array
from opcast_worker.timed_arguments import Arguments

WARM = 20
"""Calls before Python's work is counted: adaptors and frameworks learn from the first ones."""

COUNTS = 3
"""Counts, of which the least is told: what Python does now and then is none of the call's business."""


def answer(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Return the nanoseconds of every round, and how much of Python a call runs."""
    try:
        caller.use_threads(request["threads"])
        if caller.config["device"] != "cpu":
            raise Unsupported("the bare call has arrays of the host")
        arguments = Arguments(caller, request, blobs[: request["own"]])
        call = arguments.op()
        bare = export(caller, request["bare"], blobs[request["own"] :])
        plain = eager(arguments)
        call()
        timed = [turns.Timed(c, caller.wait, eager=True) for c in (call, bare)]
        turns.run(timed, request["rounds"], request["seconds"], 0.0)
        return {**counted(plain), "samples": timed[0].samples, "bare": timed[1].samples}, []
    except Unsupported as error:
        return {"unsupported": str(error)}, []
    except Exception as error:  # whatever the op raises is the answer
        return {"error": describe_error(error)}, []


def eager(arguments: Arguments) -> Callable[[], Any]:
    """Return the call of the generated function itself, which no compiler of the framework's has replaced."""
    function = arguments.caller.whole(arguments.request["op"])
    return partial(function, *arguments.positional(), **arguments.settings)


def export(caller: Caller, request: Request, blobs: list[bytes]) -> Callable[[], Any]:
    """Return the call of the export with tensors of tvm-ffi, which it reads as they are."""
    buffers = memories(blobs)
    take = importlib.import_module("tvm_ffi").from_dlpack

    def array(spec: Request) -> Any:
        data = memory(spec, buffers)
        shaped = spec["shape"], spec["strides"], spec["offset"], (CPU, 0), None
        return take(Array(data, spec["dlpack"], *shaped))

    def value(tagged: Request) -> Any:
        ((kind, plain),) = tagged.items()  # a dtype that chooses nothing travels as text
        return plain if kind == "dtype" else caller.untag(tagged, array)

    given = [value(v) for key in ("out", "args", "scratch") for v in request[key]]
    lengths: list[int] = request["lists"]["lengths"] if request["lists"] else []
    return partial(caller.native[request["op"]], *lengths, *given)


def counted(call: Callable[[], Any]) -> Request:
    """Return how many Python functions, functions in C and instructions of Python a call runs."""
    for _ in range(WARM):
        call()
    gc.collect()
    gc.disable()
    try:
        calls = [profiled(call) for _ in range(COUNTS)]
        return {
            "frames": min(frames for frames, _ in calls),
            "ccalls": min(ccalls for _, ccalls in calls),
            "opcodes": min(traced(call) for _ in range(COUNTS)),
        }
    finally:
        gc.enable()


def profiled(call: Callable[[], Any]) -> tuple[int, int]:
    """Return how many functions of Python and in C a call enters."""
    count = {"call": 0, "c_call": 0}

    def seen(frame: Any, event: str, argument: Any) -> None:
        del frame, argument
        if event in count:
            count[event] += 1

    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count["call"], count["c_call"] - 1  # the last one ends the counting


def traced(call: Callable[[], Any]) -> int:
    """Return how many instructions of Python a call executes."""
    count = 0

    def step(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        del argument
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += event == "opcode"
        return step

    sys.settrace(step)
    try:
        call()
    finally:
        sys.settrace(None)
    return count
