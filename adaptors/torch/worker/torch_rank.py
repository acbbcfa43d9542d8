"""PyTorch's DTensor on two processes: this worker and a helper that does the same requests as the second rank."""

from __future__ import annotations

import atexit
import datetime
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bound import Unsupported
from frames import receive, send
from torch_weights import weighted

if TYPE_CHECKING:
    from bound import Request
    from transform import Arrays, Task

TIMEOUT = datetime.timedelta(seconds=30)


class Ranks:
    """The two processes; the helper starts with the first request.

    Parameters
    ----------
    config
        The worker's configuration. In the helper it says so: ``rank`` is 1, and ``store`` is where they meet.

    """

    def __init__(self, config: Request) -> None:
        """Start the helper, if this is not the helper."""
        self.config: Request = config
        self.helper: Any = None
        if config.get("rank", 0) == 0:
            here = Path(__file__).parent
            store = tempfile.mkdtemp(dir=here)
            self.config = {**config, "rank": 0, "store": f"{store}/store"}
            peer = json.dumps({**self.config, "rank": 1})
            command = [sys.executable, "-B", str(here / "main.py"), peer]
            self.helper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            receive(self.helper.stdout)
        self.mesh: Any = None
        atexit.register(self.close)

    def close(self) -> None:
        """End the helper and leave the group."""
        if self.helper:
            self.helper.stdin.close()
        if self.mesh is not None:
            importlib.import_module("torch.distributed").destroy_process_group()
        if self.helper:
            # A child that was forked since has the other end of the pipe, too: the helper would wait for it.
            self.helper.terminate()
            self.helper.wait()
        else:
            os._exit(0)  # nobody waits for what else the interpreter might do at its end

    def begin(self, request: Request, blobs: list[bytes]) -> None:
        """Hand a request on to the helper and meet it."""
        if self.helper:
            send(self.helper.stdin, request, blobs)
        if self.mesh is None:
            distributed: Any = importlib.import_module("torch.distributed")
            distributed.init_process_group(
                "gloo",
                init_method="file://" + self.config["store"],
                rank=self.config["rank"],
                world_size=2,
                timeout=TIMEOUT,
            )
            device_mesh = importlib.import_module("torch.distributed.device_mesh")
            self.mesh = device_mesh.init_device_mesh("cpu", (2,))

    def end(self) -> Request:
        """Return the helper's answer."""
        if not self.helper:
            return {}
        frame = receive(self.helper.stdout)
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

    def place(x: Any, text: str) -> Any:
        moved = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
        if x.dtype not in moved and not (x.is_floating_point() and x.element_size() > 1):
            raise Unsupported(f"gloo moves no {x.dtype}")  # in both processes
        return tensor.distribute_tensor(x, mesh, [placement(text)])

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
        return [x.full_tensor() for x in everything]

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
