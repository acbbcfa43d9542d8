"""Answer requests over pipes: the Python side of internal/system/rpc.

Started as ``python -m opcast_worker.main CONFIG``, where CONFIG is JSON: the ``caller`` to be (the name of a neighbouring module),
the ``collection`` and the ``paths`` of its packages. The first frame out is the greeting; end of input means exit.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import platform
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opcast_worker import children, choices, compare, measure, overhead, probes, signature, threads
from opcast_worker.bound import Answer, Request
from opcast_worker.caller import Caller
from opcast_worker.frames import receive, send

if TYPE_CHECKING:
    Handler = Callable[[Any, Request, list[bytes]], Answer]


def own(method: str) -> Handler:
    """Return the handler of a request that a method of the worker answers."""
    return lambda worker, request, blobs: getattr(worker, method)(request, blobs)


def transform(caller: Any, request: Request, blobs: list[bytes]) -> Answer:
    """Transform an op; the ways to do that are those of the framework's own module."""
    module = importlib.import_module(f"opcast_worker.{caller.config['adaptor']}_transform")
    return module.answer(caller, request, blobs)


HANDLERS: dict[str, Handler] = {
    # Of a caller.
    "call": own("call"),
    "child": children.answer,
    "start child": children.begin,
    "describe": signature.answer,
    "measure": measure.answer,
    "overhead": overhead.answer,
    "threads": threads.answer,
    "time": compare.answer,
    "transform": transform,
    "tune": choices.answer,
    # Of the process that has several frameworks.
    "chain": own("chain"),
    # Of the oracle.
    "differences": own("differences"),
    "independent": own("independent"),
    "modules": own("import_modules"),
    "properties": own("properties"),
    "reference": own("reference"),
    "samples": own("samples"),
}
"""Who answers which request."""


def answer(worker: Any, request: Request, blobs: list[bytes]) -> Answer:
    """Answer one request."""
    worker.lists, worker.in_order = request.get("lists"), request.get("in_order", False)
    return HANDLERS[request["do"]](worker, request, blobs)


def main() -> None:
    """Serve requests until the input ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not corrupt the frames
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    config = json.loads(sys.argv[1])
    if cpus := config.get("cpus"):  # frameworks count them when they are imported
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cpus])
    os.environ.update(config.get("environ", {}))
    # Authors' modules come first, and find no other of their name: ours have one name, that of their package.
    ours = str(Path(__file__).parent.parent)
    sys.path[:] = [*config["paths"], *(path for path in sys.path if path != ours), ours]
    worker = probes.create(config)
    if isinstance(worker, Caller) and not worker.missing:
        worker.ready()
    send(out, {**worker.greeting(), "python": platform.python_version()}, [])
    stream = sys.stdin.buffer
    while (frame := receive(stream)) is not None:
        send(out, *answer(worker, *frame))


if __name__ == "__main__":
    main()
