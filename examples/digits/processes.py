"""Run a function in several processes of this machine, and leave none behind."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Worker:
    """A process among others, and where they may meet: in a folder of their own, or at a free port."""

    rank: int
    count: int
    folder: Path
    port: int


class ProcessError(Exception):
    """A process ended before its work was done. It has printed why."""


def run(count: int, work: Callable[[Worker], Result]) -> Result:
    """Call work in fresh interpreters, and return what that of rank 0 returns.

    All of them end when one fails and when this process is interrupted or killed.
    """
    context = multiprocessing.get_context("spawn")
    started: list[BaseProcess] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _uninterrupted():
                port = _free_port()
                for rank in range(count):
                    worker = Worker(rank, count, Path(folder), port)
                    process = context.Process(target=_call, args=(work, worker), daemon=True)
                    process.start()
                    started.append(process)
            _wait(started)
            return pickle.loads(_result(folder).read_bytes())
        finally:
            for process in reversed(started):  # the first one last: others would complain
                process.kill()
            for process in started:
                process.join()


def _call(work: Callable[[Worker], object], worker: Worker) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    result = work(worker)
    if worker.rank == 0:
        _result(worker.folder).write_bytes(pickle.dumps(result))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _wait(processes: Sequence[BaseProcess]) -> None:
    running: dict[Any, int] = {process.sentinel: rank for rank, process in enumerate(processes)}
    while running:
        for sentinel in connection.wait(list(running)):
            rank = running.pop(sentinel)
            processes[rank].join()
            if processes[rank].exitcode:
                code = processes[rank].exitcode
                raise ProcessError(f"process {rank} of {len(processes)} ended with {code}")


def _result(folder: str | Path) -> Path:
    return Path(folder) / "result"


@contextlib.contextmanager
def _uninterrupted() -> Generator[None]:
    """Put off Ctrl-C, which goes to all processes; those that start here never see it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _free_port() -> int:
    with socket.create_server(("localhost", 0)) as server:
        return server.getsockname()[1]
