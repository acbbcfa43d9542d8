"""Try the processes of the example: they work, one fails, or they sleep until something ends them."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any

processes: Any = import_module("processes")


def work(worker: Any) -> list[int]:
    """Return something that each process sees differently."""
    _start(worker)
    return [worker.rank, worker.count]


def fail(worker: Any) -> None:
    """Fail in one process, while the others wait."""
    _start(worker)
    if worker.rank == 1:
        sys.exit(7)
    time.sleep(600)


def sleep(worker: Any) -> None:
    """Wait in all of them."""
    _start(worker)
    time.sleep(600)


def _start(worker: Any) -> None:
    """Go on once all processes are there, and one of them has said so."""
    said = worker.folder / "said"
    (worker.folder / f"{worker.rank}").touch()
    while not said.exists():
        if worker.rank == 0 and len(list(worker.folder.iterdir())) == worker.count:
            print("started", flush=True)
            said.touch()
        time.sleep(0.01)


if __name__ == "__main__":
    try:
        print(processes.run(3, {"work": work, "fail": fail, "sleep": sleep}[sys.argv[1]]))
    except processes.ProcessError as error:
        print(error)
    except KeyboardInterrupt:
        print("interrupted")
