"""Makes calls in a child of this process, which is forked or spawned once and serves all ops."""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opcast_worker import probes
from opcast_worker.bound import Answer, Request, Unsupported
from opcast_worker.caller import Caller

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_libc = ctypes.CDLL(None)

PR_SET_PDEATHSIG = 1
"""Of prctl(2): which signal a process gets when its parent ends."""

DEADLINE = 60
"""Seconds that a child has for an answer, the first after it has imported everything."""

children: dict[str, ChildProcess] = {}
"""The living children by how they were started."""


class ChildProcess:
    """A child process, by ``fork`` or ``spawn``, and the pipe to it; a forked child has the caller already."""

    def __init__(self, caller: Caller, method: str) -> None:
        """Start the process."""
        context: Any = multiprocessing.get_context(method)
        self.pipe: Connection
        self.pipe, theirs = context.Pipe()
        # Beside this file, in a folder that goes with the run even if this process is killed.
        self.folder = tempfile.TemporaryDirectory(dir=Path(__file__).parent)
        self.stacks = Path(self.folder.name) / "stacks"
        self.method = method
        inherited = (self.pipe, caller) if method == "fork" else (None, None)
        args = (theirs, str(self.stacks), caller.config, *inherited)
        self.process = context.Process(target=serve, args=args, daemon=True)
        self.process.start()
        theirs.close()

    def call(self, request: Request, blobs: list[bytes]) -> Answer:
        """Have the child make a call; a child that hangs or dies says so, and there is a new one next time."""
        try:
            self.pipe.send((request, blobs))
            if self.pipe.poll(DEADLINE):
                body, data = self.pipe.recv()
                return body, data
            reason = f"no answer within {DEADLINE} s"
            self.ask()
        except (EOFError, OSError):
            self.process.join(DEADLINE)
            reason = f"it ended with exit code {self.process.exitcode}"
        del children[self.method]
        told = self.stacks.read_text(errors="replace") if self.stacks.exists() else ""
        self.process.kill()
        self.process.join()
        return {"died": f"the child that was started by {self.method}: {reason}\n{told}"}, []

    def ask(self) -> None:
        """Have a child that hangs write down where it is."""
        if self.process.pid is not None:
            os.kill(self.process.pid, signal.SIGUSR1)
            self.process.join(1)


def create(config: Request) -> Caller:
    """Make a caller in a process that has imported nothing yet."""
    sys.path[:0] = [p for p in config["paths"] if p not in sys.path]
    return probes.create(config)


def serve(
    pipe: Connection,
    stacks: str,
    config: Request,
    other: Connection | None,
    forked: Caller | None,
) -> None:
    """Answer calls until the parent goes: the work of the child."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # even if it hangs in a kernel then
    if other is not None:
        other.close()  # or the end of the parent would not be seen
    with Path(stacks).open("w") as notes:
        faulthandler.enable(notes)
        faulthandler.register(signal.SIGUSR1, notes, all_threads=True)
        caller = forked if forked is not None else create(config)
        while True:
            try:
                request, blobs = pipe.recv()
            except EOFError:
                return
            try:
                pipe.send(caller.call(request, blobs))
            except Exception:  # the parent's user has to see it
                pipe.send(({"died": traceback.format_exc()}, []))


def begin(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Start the child that the method of the request says, unless it runs."""
    del blobs
    method = request["method"]
    try:
        if method == "fork" and caller.unforkable:
            raise Unsupported(caller.unforkable)
        if method == "fork" and caller.config["device"] != "cpu":
            raise Unsupported("what a process has of a GPU does not survive a fork")
        if method not in children:
            children[method] = ChildProcess(caller, method)
    except Unsupported as error:
        return {"unsupported": str(error)}, []
    return {}, []


def answer(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Make the call of the request in the child that its method says."""
    refusal, _ = begin(caller, request, [])
    return (refusal, []) if refusal else children[request["method"]].call(request["call"], blobs)
