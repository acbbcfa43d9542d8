"""Calls on PyTorch's streams and in CUDA graphs."""

from __future__ import annotations

from typing import Any

from opcast_worker.bound import Bound, Probes, Report
from opcast_worker.streams import results, substituted

CYCLES = 20_000_000
"""Of the device's clock: some milliseconds, longer than any launch of a small kernel takes."""


class Streams(Probes):
    """Probes of the order of work on the device."""

    def calls(self, call: Bound, streams: int) -> list[list[Any]]:
        """Call on so many streams at once, the first of which is busy for longest; return copies of the results.

        On each stream, the arguments are filled after a delay, and the call is made right behind, without waiting.
        """
        cuda = self.framework.cuda
        every = [cuda.Stream() for _ in range(streams)]
        made = [substituted(call, self.framework.zeros_like) for _ in every]
        cuda.synchronize()
        got: list[list[Any]] = []
        try:
            for i, (stream, (changed, pairs)) in enumerate(zip(every, made)):
                with cuda.stream(stream):
                    cuda._sleep(CYCLES // (1 + i))
                    for new, old in pairs:
                        new.copy_(old)
                    got.append([None if r is None else r.clone() for r in results(changed())])
        finally:  # PyTorch would reuse the memory that the streams still work with
            cuda.synchronize()
        return got

    def probe_side_stream(self, call: Bound) -> Any:
        """Call on a side stream, right behind the producer of the arguments."""
        return self.calls(call, 1)[0]

    def probe_two_streams(self, call: Bound) -> Any:
        """Call on two streams at once."""
        first, second = self.calls(call, 2)
        return Report(first, {"the other stream agrees": self.same(first, second)})

    def probe_graph_replayed(self, call: Bound) -> Any:
        """Capture a call in a graph, give its arguments other contents, and replay it twice."""
        cuda = self.framework.cuda
        changed, pairs = substituted(call, self.framework.zeros_like)
        side = cuda.Stream()
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            for _ in range(3):  # what is done once, with the first calls, is not for the graph
                changed()
        cuda.current_stream().wait_stream(side)
        cuda.synchronize()
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            captured = results(changed())
        replays: list[list[Any]] = []
        for _ in range(2):
            for new, old in pairs:
                new.copy_(old)
            graph.replay()
            cuda.synchronize()
            replays.append([None if r is None else r.clone() for r in captured])
        return Report(replays[0], {"the second replay agrees": self.same(*replays)})

    def same(self, first: list[Any], second: list[Any]) -> bool:
        """Whether two lists of results have the same bits."""
        torch = self.framework

        def flat(x: Any) -> Any:
            return x.contiguous().reshape(-1).view(torch.uint8)

        return all(
            a is b if a is None or b is None else torch.equal(flat(a), flat(b))
            for a, b in zip(first, second)
        )


create = Streams
