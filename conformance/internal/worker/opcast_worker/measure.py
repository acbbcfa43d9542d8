"""Times an op and the peers that its author names, which is what ``opcast bench`` asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opcast_worker import gpu_clock, turns
from opcast_worker.bound import Answer, Memory, Request, Unsupported, describe_error
from opcast_worker.caller import Caller
from opcast_worker.timed_arguments import Arguments
from opcast_worker.timed_peers import Peer, close, judge, named, results


def answer(caller: Caller, request: Request, blobs: list[bytes]) -> Answer:
    """Return the nanoseconds of every round, and what became of the peers."""
    try:
        caller.use_threads(request["threads"])
        arguments = Arguments(caller, request, blobs)
        del blobs
        return measured(caller, request, arguments), []
    except Unsupported as error:
        return {"unsupported": str(error)}, []
    except Exception as error:  # whatever the op raises is the answer
        return {"error": describe_error(error)}, []
    finally:
        turns.release()


def measured(caller: Caller, request: Request, arguments: Arguments) -> Request:
    """Hold the peers against the op, and time all that agree."""
    clock = gpu_clock.clock_of(caller)
    timing = HostTiming(caller, request, arguments)
    if clock is not None:
        timing = GpuTiming(caller, request, arguments, clock)
    call = arguments.op()
    want = results(caller, request, call())
    peers, failed = named(caller, request)
    for peer in peers:
        judge(arguments, want, peer)
    want.clear()
    timed = [timing.op(call), timing.copy()]
    accepted = [peer for peer in peers if not peer.error and close(request, peer)]
    for peer in accepted:
        peer.timed = timing.peer(peer)
        timed.append(peer.timed)
    for i in turns.run(timed, request["rounds"], request["seconds"], timing.rest):
        accepted[i - 2].slow = True
    return {
        "samples": timed[0].samples,
        "copy": timed[1].samples,
        "copied": 2 * timing.copied,
        **timing.close(timed[0]),
        "peers": [peer.told() for peer in peers],
        "failed": failed,
    }


class HostTiming:
    """How calls are timed by the clock of the host."""

    copied = turns.COPIED
    """Bytes of the array that is copied."""

    def __init__(self, caller: Caller, request: Request, arguments: Arguments) -> None:
        """Make nothing yet."""
        self.caller, self.request, self.arguments = caller, request, arguments
        self.eager = caller.config["device"] == "cpu"
        self.rest = turns.REST if request["threads"] > 1 and self.eager else 0.0
        self.host_copy: turns.Copy | None = None

    def op(self, call: Callable[[], Any]) -> turns.Timed:
        """Return the call of the op, to be timed."""
        return turns.Timed(call, self.caller.wait, self.eager)

    def peer(self, peer: Peer) -> turns.Timed:
        """Return the call of a peer, to be timed."""
        return turns.Timed(peer.call, self.caller.wait, self.eager)

    def copy(self) -> turns.Timed:
        """Return the copy through memory, to be timed."""
        call: Any = copy_there(self.caller)
        if self.eager:
            call = self.host_copy = turns.Copy(self.request["threads"])
        return turns.Timed(call, self.caller.wait, self.eager)

    def close(self, op: turns.Timed) -> Request:
        """Release what was made; return what else is known about the op."""
        del op
        if self.host_copy is not None:
            self.host_copy.close()
        return {}


class GpuTiming(HostTiming):
    """How calls are timed by a framework's events on a GPU, over several sets of arguments."""

    def __init__(
        self, caller: Caller, request: Request, arguments: Arguments, clock: gpu_clock.Clock
    ) -> None:
        """Copy the arguments as often as they take turns."""
        super().__init__(caller, request, arguments)
        self.clock, self.copied, self.rest = clock, clock.copied, 0.0
        self.others = [arguments.copied() for _ in range(gpu_clock.sets_of(arguments.size()) - 1)]

    def op(self, call: Callable[[], Any]) -> turns.Timed:
        """Return the call of the op, to be timed."""
        return gpu_clock.replayed(self.clock, [call, *(other.op() for other in self.others)])

    def peer(self, peer: Peer) -> turns.Timed:
        """Return the call of a peer, to be timed."""
        calls = [other.peer(peer.function) for other in self.others]
        return gpu_clock.replayed(self.clock, [peer.call, *calls])

    def copy(self) -> turns.Timed:
        """Return the copy through memory, to be timed."""
        return gpu_clock.fastest_copy(self.clock)

    def close(self, op: turns.Timed) -> Request:
        """Return what is known beside the times of the op: the ceiling of products, and what a call costs the host."""
        self.others.clear()
        about = gpu_clock.told(op) if isinstance(op, gpu_clock.Replayed) else {}
        return {**about, "peak": gpu_clock.peak(self.clock)}


def copy_there(caller: Caller) -> Callable[[], Any]:
    """Return the copy of an array on the device under test."""
    spec = {"dtype": "uint8", "dlpack": [1, 8], "shape": [turns.COPIED], "strides": [1]}
    array = caller.make({**spec, "offset": 0, "blob": 0}, Memory(turns.COPIED))
    return lambda: caller.owned(array)
