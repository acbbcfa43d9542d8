"""PyTorch's DTensor on two processes: this worker and a helper that does the same requests as the second rank."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import datetime
import importlib
import os
import signal
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from opcast_worker.bound import Answer, Request, Unsupported
from opcast_worker.frames import receive, send
from opcast_worker.torch_weights import weighted
from opcast_worker.transform import Arrays, Task

TIMEOUT = datetime.timedelta(seconds=30)

PR_SET_PDEATHSIG = 1
"""Of prctl(2): which signal a process gets when its parent ends."""

STDERR = 2


class Ranks:
    """The two processes, of which this is one.

    The helper is forked from the caller, before autograd has threads: these would be missing there.
    ``answer`` does a request, of which it gets the caller, the words and the arrays.
    """

    def __init__(self, caller: Any, answer: Callable[..., Answer]) -> None:
        """Start the helper."""
        self.rank = 0
        self.store = tempfile.mkdtemp(dir=Path(__file__).parent) + "/store"
        self.mesh: Any = None
        requests, answers = os.pipe(), os.pipe()
        self.helper = os.fork()
        if self.helper == 0:
            self.serve(partial(answer, caller), requests, answers)
        os.close(requests[0])
        os.close(answers[1])
        self.requests, self.answers = os.fdopen(requests[1], "wb"), os.fdopen(answers[0], "rb")
        atexit.register(self.close)

    def serve(
        self, answer: partial[Answer], requests: tuple[int, int], answers: tuple[int, int]
    ) -> NoReturn:
        """Do every request as the second rank, until the worker ends: the work of the helper."""
        with contextlib.suppress(BaseException):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            for name in [p.name for p in Path("/proc/self/fd").iterdir()]:
                if int(name) > STDERR and int(name) not in (requests[0], answers[1]):
                    with contextlib.suppress(OSError):
                        os.close(int(name))
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(STDERR, 1)
            self.rank = 1
            answer.args[0].ranks = self
            with os.fdopen(requests[0], "rb") as inward, os.fdopen(answers[1], "wb") as outward:
                while (frame := receive(inward)) is not None:
                    send(outward, *answer(*frame))
        os._exit(0)  # nobody waits for what else the interpreter might do at its end

    def close(self) -> None:
        """Leave the group and end the helper, which children that were forked since keep from seeing the end."""
        if self.mesh is not None:
            importlib.import_module("torch.distributed").destroy_process_group()
        os.kill(self.helper, signal.SIGTERM)
        os.waitpid(self.helper, 0)

    def begin(self, request: Request, blobs: list[bytes]) -> None:
        """Hand a request on to the helper and meet it."""
        if self.rank == 0:
            send(self.requests, request, blobs)
        if self.mesh is None:
            distributed: Any = importlib.import_module("torch.distributed")
            distributed.init_process_group(
                "gloo",
                init_method="file://" + self.store,
                rank=self.rank,
                world_size=2,
                timeout=TIMEOUT,
            )
            device_mesh = importlib.import_module("torch.distributed.device_mesh")
            self.mesh = device_mesh.init_device_mesh("cpu", (2,))

    def end(self) -> Request:
        """Return the helper's answer."""
        if self.rank == 1:
            return {}
        frame = receive(self.answers)
        if frame is None:
            raise RuntimeError("the helper process ended")
        return frame[0]


def dtensor(task: Task) -> None:
    """Call with DTensors of the given placements.

    Facts: placements of the results, then of the gradients, and the collectives that the forward and the backward
    pass ran.
    """
    tensor: Any = importlib.import_module("torch.distributed.tensor")
    debug: Any = importlib.import_module("torch.distributed.tensor.debug")
    torch, mesh = task.caller.torch, task.caller.ranks.mesh
    wrt: list[int] = task.options["wrt"]

    def placement(text: str) -> Any:
        return tensor.Shard(int(text[2:-1])) if text.startswith("S") else tensor.Replicate()

    def movable(x: Any) -> Any:
        moved = {torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64}
        if x.dtype not in moved and not (x.is_floating_point() and x.element_size() > 1):
            raise Unsupported(f"gloo moves no {x.dtype}")  # in both processes
        return x

    def place(x: Any, text: str) -> Any:
        return tensor.distribute_tensor(movable(x), mesh, [placement(text)])

    def call(arrays: Arrays) -> Any:
        inputs = [place(x, p) for x, p in zip(arrays.inputs, task.options["inputs"])]
        wanted = [inputs[i].requires_grad_() for i in wrt]
        with debug.CommDebugMode() as forward:
            results = task.function(*inputs)
        found: Any = ()
        backward = {}
        if wrt:
            cotangents = [
                place(x, p) for x, p in zip(arrays.cotangents, task.options["cotangents"])
            ]
            with debug.CommDebugMode() as mode:
                found = torch.autograd.grad(*weighted(results, cotangents, wanted))
            backward = mode.get_comm_counts()
        everything = [*results, *found]
        task.facts["placements"] = [[describe(tensor, p) for p in x.placements] for x in everything]
        task.facts["forward"] = counts(forward.get_comm_counts())
        task.facts["backward"] = counts(backward)
        return [movable(x).full_tensor() for x in everything]

    task.each(call)


def describe(tensor: Any, placement: Any) -> str:
    """Return the short name of a placement."""
    if isinstance(placement, tensor.Shard):
        return f"S({placement.dim})"
    if isinstance(placement, tensor.Partial):
        return f"P({placement.reduce_op})"
    return "R" if isinstance(placement, tensor.Replicate) else str(placement)


def counts(found: Any) -> dict[str, int]:
    """Return the collectives by name."""
    return {str(name): int(count) for name, count in found.items()}


WAYS: Request = {"dtensor": dtensor}
