"""Times of calls of PyTorch on a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from opcast_worker.torch_caller import Torch

SIDE = 8192
"""Rows and columns of the large matrix product: enough work for any GPU."""


class Clock:
    """PyTorch's events and graphs, for arrays on a device as PyTorch calls it."""

    copied = 1 << 30

    def __init__(self, torch: Any, device: str) -> None:
        """Keep both."""
        self.torch, self.device = torch, device

    def event(self) -> Any:
        """Return a new event, recorded on the current stream."""
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, first: Any, last: Any) -> float:
        """Wait for the last event and return the nanoseconds between the two."""
        last.synchronize()
        return first.elapsed_time(last) * 1e6

    def captured(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        """Capture calls in a graph, with results that do not share memory; return what replays it."""
        cuda = self.torch.cuda
        graph = cuda.CUDAGraph()
        cuda.synchronize()
        results: list[Any] = []  # all at a time, so that none is written over in a cache
        with cuda.graph(graph):
            results.extend(call() for call in calls)
        results.clear()
        return graph.replay

    def copies(self) -> Sequence[Callable[[], Any]]:
        """Return ways to move ``copied`` bytes: the driver's copy, and kernels. In graphs, the driver's may be the slower one."""
        array = self.torch.ones(self.copied // 4, dtype=self.torch.float32, device=self.device)
        other = self.torch.empty_like(array)
        return array.clone, lambda: other.copy_(array), lambda: self.torch.neg(array, out=other)

    def product(self) -> tuple[Callable[[], Any], float]:
        """Return a large matrix product and its operations: random numbers, since zeros are faster."""
        torch = self.torch
        a, b = (torch.randn(SIDE, SIDE, dtype=torch.bfloat16, device=self.device) for _ in range(2))
        return lambda: a @ b, 2.0 * SIDE**3

    def wait(self) -> None:
        """Wait for the device."""
        self.torch.cuda.synchronize()


class Rehearsal(Clock):
    """The same on the host: events are times of its clock, and a graph is the list of its calls."""

    copied = 1 << 12

    def event(self) -> int:
        """Return the time."""
        return time.perf_counter_ns()

    def between(self, first: int, last: int) -> float:
        """Return the nanoseconds between two times."""
        return max(last - first, 1)

    def captured(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        """Make the calls; return what repeats the first."""
        for call in calls[:2]:
            call()
        return calls[0]

    def product(self) -> tuple[Callable[[], Any], float]:
        """Return a matrix product and its operations."""
        a = self.torch.ones(8, 8)
        return lambda: a @ a, 2.0 * 8**3

    def wait(self) -> None:
        """Wait for nothing."""


def create(caller: Torch) -> Clock:
    """Return the clock of a worker."""
    kind = Rehearsal if caller.config["profile"] == "rehearsal" else Clock
    return kind(caller.torch, caller.config["device"].replace("rocm", "cuda"))
