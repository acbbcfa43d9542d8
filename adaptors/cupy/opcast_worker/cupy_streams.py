"""Calls on CuPy's streams and in CUDA graphs."""

from __future__ import annotations

from typing import Any

from opcast_worker.bound import Bound, Probes, Report
from opcast_worker.streams import results, substituted

ROUNDS, WIDTH = 50, 1 << 24
"""Of a delay: so many sines of so many numbers, some milliseconds of work."""


class Streams(Probes):
    """Probes of the order of work on the device."""

    def zeros(self, x: Any) -> Any:
        """Return zeros like an array; its memory may hold bits that stand for no number."""
        new = self.framework.empty_like(bits(x))
        new[...] = 0
        return new.view(x.dtype)

    def fill(self, pairs: list[tuple[Any, Any]]) -> None:
        """Copy the contents on the device, on the current stream."""
        for new, old in pairs:
            bits(new)[...] = bits(old)

    def calls(self, call: Bound, streams: int) -> list[list[Any]]:
        """Call on so many streams at once, the first of which is busy for longest; return copies of the results.

        On each stream, the arguments are filled after a delay, and the call is made right behind, without waiting.
        """
        cupy = self.framework
        every = [cupy.cuda.Stream(non_blocking=True) for _ in range(streams)]
        made = [(*substituted(call, self.zeros), cupy.ones(WIDTH, "f4")) for _ in every]
        cupy.cuda.Device().synchronize()
        got: list[list[Any]] = []
        try:
            for i, (stream, (changed, pairs, busy)) in enumerate(zip(every, made)):
                with stream:
                    for _ in range(ROUNDS // (1 + i)):
                        cupy.sin(busy, out=busy)
                    self.fill(pairs)
                    got.append([copied(r) for r in results(changed())])
        finally:  # the pool would give what the streams still use to others
            cupy.cuda.Device().synchronize()
        return got

    def probe_side_stream(self, call: Bound) -> Any:
        """Call on a side stream, right behind the producer of the arguments."""
        return self.calls(call, 1)[0]

    def probe_two_streams(self, call: Bound) -> Any:
        """Call on two streams at once."""
        first, second = self.calls(call, 2)
        return Report(first, {"the other stream agrees": same(first, second)})

    def probe_graph_replayed(self, call: Bound) -> Any:
        """Capture a call in a graph, give its arguments other contents, and replay it twice."""
        changed, pairs = substituted(call, self.zeros)
        self.framework.cuda.Device().synchronize()
        stream = self.framework.cuda.Stream(non_blocking=True)
        with stream:
            changed()  # what is done once, with the first call, is not for the graph; its memory returns to the pool
            stream.synchronize()
            stream.begin_capture()
            captured = results(changed())
            graph = stream.end_capture()
            replays: list[list[Any]] = []
            for _ in range(2):
                self.fill(pairs)
                graph.launch(stream)
                stream.synchronize()
                replays.append([copied(r) for r in captured])
            stream.synchronize()
        return Report(replays[0], {"the second replay agrees": same(*replays)})


def bits(x: Any) -> Any:
    """Return an array as integers of its width: CuPy cannot copy dtypes, such as float8, that it knows by name only."""
    return x.view(f"u{x.dtype.itemsize}")


def copied(x: Any) -> Any:
    """Return a copy of a result; None stands for one that does not exist."""
    return None if x is None else bits(x).copy().view(x.dtype)


def same(first: list[Any], second: list[Any]) -> bool:
    """Whether two lists of results have the same bits."""
    return all(
        a is b if a is None or b is None else a.get().tobytes() == b.get().tobytes()
        for a, b in zip(first, second)
    )


create = Streams
