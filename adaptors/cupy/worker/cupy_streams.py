"""Calls on CuPy's streams and in CUDA graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bound import Report
from streams import results, substituted

if TYPE_CHECKING:
    from bound import Bound
    from caller import Caller

ROUNDS, WIDTH = 50, 1 << 24
"""Of a delay: so many sines of so many numbers, some milliseconds of work."""


class Streams:
    """Probes of the order of work on the device.

    Parameters
    ----------
    caller
        The caller for CuPy.

    """

    def __init__(self, caller: Caller) -> None:
        """Keep the framework."""
        self.cupy: Any = vars(caller)["cupy"]

    def zeros(self, x: Any) -> Any:
        """Return zeros like an array; its memory may hold bits that stand for no number."""
        new = self.cupy.empty_like(bits(x))
        new[...] = 0
        return new.view(x.dtype)

    def fill(self, pairs: list[tuple[Any, Any]]) -> None:
        """Copy the contents on the device, on the current stream."""
        for new, old in pairs:
            bits(new)[...] = bits(old)

    def late(self, call: Bound, stream: Any, held: list[Any], rounds: int = ROUNDS) -> list[Any]:
        """Fill the arguments after a delay on a stream, call there without waiting; return copies of the results.

        What the stream is still to use is in ``held``: the pool would give it to others before.
        """
        changed, pairs = substituted(call, self.zeros)
        busy = self.cupy.ones(WIDTH, "f4")
        held += [pairs, busy]
        self.cupy.cuda.Device().synchronize()
        with stream:
            for _ in range(rounds):
                self.cupy.sin(busy, out=busy)
            self.fill(pairs)
            return [None if r is None else bits(r).copy().view(r.dtype) for r in results(changed())]

    def calls(self, call: Bound, streams: int) -> list[list[Any]]:
        """Call on so many streams at once, the first of which is busy for longest; return their results."""
        held: list[Any] = []
        every = [self.cupy.cuda.Stream(non_blocking=True) for _ in range(streams)]
        try:
            return [self.late(call, s, held, ROUNDS // (1 + i)) for i, s in enumerate(every)]
        finally:
            self.cupy.cuda.Device().synchronize()
            held.clear()

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
        self.cupy.cuda.Device().synchronize()
        stream = self.cupy.cuda.Stream(non_blocking=True)
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
                replays.append(
                    [None if r is None else bits(r).copy().view(r.dtype) for r in captured]
                )
            stream.synchronize()
        return Report(replays[0], {"the second replay agrees": same(*replays)})


def bits(x: Any) -> Any:
    """Return an array as integers of its width: CuPy copies no elements of dtypes that it knows by name only."""
    return x.view(f"u{x.dtype.itemsize}")


def same(first: list[Any], second: list[Any]) -> bool:
    """Whether two lists of results have the same bits."""
    return all(
        a is b if a is None or b is None else a.get().tobytes() == b.get().tobytes()
        for a, b in zip(first, second)
    )


create = Streams
