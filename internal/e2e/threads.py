"""Watch how many threads calls start, whatever says how many they may use.

Needs OPCAST_NUM_THREADS=4. Run with one argument: numpy, torch, jax, forked, fork or spawn, the latter two
for workers of a DataLoader.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

backend: Any = importlib.import_module("opcast_backend")


def count() -> int:
    """Return the number of threads of this process."""
    return len(list(Path("/proc/self/task").iterdir()))


def started(call: Any) -> int:
    """Return how many threads a call starts."""
    before = count()
    call()
    return count() - before


def expect(what: str, got: object, want: object) -> None:
    """Compare."""
    if got != want:
        sys.exit(f"{what}: got {got}, want {want}")


def numpy() -> None:
    """Set the number of threads, rightly and wrongly."""
    ops: Any = importlib.import_module("opcast_numpy")
    x = np.ones((64, 4096), np.float32)

    def call() -> None:
        ops.softmax(x)

    expect("default", backend.get_num_threads(), 4)
    for number, new in ((1, 0), (3, 2), (2, 0), (5, 2)):
        backend.set_num_threads(number)
        expect(f"number {number}", backend.get_num_threads(), number)
        expect(f"threads started with number {number}", started(call), new)
    for wrong, kind, text in (
        (0, ValueError, "expected at least 1, got 0"),
        (4097, ValueError, "expected at most 4096, got 4097"),
        ("2", TypeError, "expected int, got str"),
    ):
        try:
            backend.set_num_threads(wrong)
        except kind as error:
            expect("error", str(error), f"set_num_threads: n: {text}")
        else:
            sys.exit(f"set_num_threads({wrong!r}) passed")
    expect("number after errors", backend.get_num_threads(), 5)


class Calls:
    """A data set: each of its items says how many threads a call has started that made it."""

    def __len__(self) -> int:
        """Return the number of items."""
        return 2

    def __getitem__(self, _: int) -> tuple[int, int]:
        """Return how many threads a call may use, and has started."""
        call = large()
        return backend.get_num_threads(), started(call)


def large() -> Any:
    """Return a call that is long enough for several threads, once PyTorch has started its own."""
    ops: Any = importlib.import_module("opcast_torch")
    torch: Any = importlib.import_module("torch")
    x = torch.ones((64, 4096))
    return lambda: ops.softmax(x)


def torch() -> None:
    """Change PyTorch's number of threads; calls use its own, and start none."""
    framework: Any = importlib.import_module("torch")
    for number, allowed in ((1, 1), (2, 2), (9, 4), (1, 1)):
        framework.set_num_threads(number)
        call = large()
        expect(f"number under PyTorch's {number}", backend.get_num_threads(), allowed)
        expect(f"threads started under PyTorch's {number}", started(call), 0)


def jax() -> None:
    """Call in JAX, whose threads calls use, so that they start none."""
    framework: Any = importlib.import_module("jax")
    ops: Any = importlib.import_module("opcast_jax")
    x = framework.numpy.ones((64, 4096))
    call = framework.jit(ops.softmax)
    framework.jit(framework.nn.softmax)(x).block_until_ready()
    call(x[:1]).block_until_ready()  # too little work for a second thread
    expect("threads started in JAX", started(lambda: call(x).block_until_ready()), 0)


def forked() -> None:
    """Call in a forked child, in which PyTorch would wait for its own threads forever."""
    framework: Any = importlib.import_module("torch")
    framework.set_num_threads(2)
    call = large()
    expect("threads started before", started(call), 0)
    want = call().numpy().tobytes()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if call().numpy().tobytes() == want else 1)
    expect("the child's end", os.waitpid(child, 0)[1], 0)


def loader(method: str) -> None:
    """Call in the worker of a DataLoader, which has one thread."""
    framework: Any = importlib.import_module("torch")
    framework.set_num_threads(2)
    expect("threads started before", started(large()), 0)
    data = importlib.import_module("torch.utils.data")
    items = data.DataLoader(Calls(), num_workers=1, batch_size=None, multiprocessing_context=method)
    expect("threads in workers", [tuple(item) for item in items], [(1, 0), (1, 0)])
    expect("number after", backend.get_num_threads(), 2)


if __name__ == "__main__":
    if sys.argv[1] == "numpy":
        numpy()
    elif sys.argv[1] == "torch":
        torch()
    elif sys.argv[1] == "jax":
        jax()
    elif sys.argv[1] == "forked":
        forked()
    else:
        loader(sys.argv[1])
