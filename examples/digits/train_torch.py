"""Training in PyTorch: with several processes, DTensor splits each batch, over gloo."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from typing import Any

import data
import learning
import opcast_torch
import torch
import torch.distributed as dist
from learning import Job, Outcome
from processes import Worker
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Placement, Replicate, Shard, distribute_tensor

_torch: Any = torch  # partly untyped


def train(job: Job, worker: Worker) -> Outcome:
    """Train as one of the processes."""
    torch.set_num_threads(1)  # for torch's own ops: more would wait for each other most of the time
    with _mesh(worker) as mesh:
        w = {name: _torch.from_numpy(value) for name, value in learning.initial().items()}
        moments = learning.no_moments(w)
        losses: list[float] = []
        for number, batch in enumerate(data.batches(job.steps), start=1):
            images, targets = (_place(_torch.from_numpy(part), mesh, Shard(0)) for part in batch)
            leaves = {n: _place(v, mesh, Replicate()).requires_grad_() for n, v in w.items()}
            loss = learning.loss(opcast_torch, torch, leaves, images, targets)
            slopes = _torch.autograd.grad(loss, list(leaves.values()))
            # The gradients of weights are Partial, one part per process: here they are summed, once.
            slopes = {name: _whole(slope) for name, slope in zip(leaves, slopes)}
            w, moments = learning.adamw(w, slopes, moments, learning.schedule(number, job.steps))
            losses.append(float(_whole(loss.detach())))
            if worker.rank == 0:
                learning.log(losses)
    weights = {name: value.numpy() for name, value in w.items()}
    return Outcome(losses, weights, learning.accuracy(opcast_torch, torch, w))


def _place(tensor: Tensor, mesh: DeviceMesh | None, placement: Placement) -> Tensor:
    # Every process has all values, so none has to send them.
    if mesh is None:
        return tensor.detach()
    return distribute_tensor(tensor, mesh, [placement], src_data_rank=None)


def _whole(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


@contextlib.contextmanager
def _mesh(worker: Worker) -> Generator[DeviceMesh | None]:
    """Give the processes to split tensors over, or None if there is only one."""
    if worker.count == 1:
        yield None
        return
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all processes are on this machine
    meeting = f"file://{worker.folder / 'store'}"
    dist.init_process_group("gloo", meeting, rank=worker.rank, world_size=worker.count)
    try:
        yield init_device_mesh("cpu", (worker.count,))
    finally:
        dist.destroy_process_group()
