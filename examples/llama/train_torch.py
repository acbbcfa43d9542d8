"""Training in PyTorch: alone, or as one of the processes of torchrun, over which FSDP2 splits every parameter."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterator
from typing import Any

import network
import opcast_torch as ops
import torch
import torch.distributed as dist
import train
from checkpoint import Config, Values
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

_torch: Any = torch  # partly untyped


class Tree(nn.Module):
    """Parameters under names with dots."""

    def __init__(self, weights: dict[str, nn.Parameter]) -> None:
        super().__init__()
        for name, value in weights.items():
            *path, last = name.split(".")
            place: nn.Module = self
            for step in path:
                if not hasattr(place, step):
                    place.add_module(step, nn.Module())
                place = getattr(place, step)
            place.register_parameter(last, value)


class Layer(Tree):
    """A layer: it is called, so FSDP2 gathers its parameters before and frees them after."""

    def forward(
        self, config: Config, x: Tensor, rotation: tuple[Tensor, Tensor], starts: Tensor
    ) -> Tensor:
        """Return what the layer makes of the tokens x."""

        def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return ops.flash_attn_varlen(q, k, v, starts, starts, causal=True)[0]

        weights = dict(self.named_parameters())
        return network.block(ops, torch, weights, config, x, rotation, attend)


class Decoder(nn.Module):
    """The decoder as a module."""

    def __init__(self, config: Config, weights: dict[str, nn.Parameter]) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(
            Layer(network.of_layer(weights, n)) for n in range(config.layers)
        )
        self.ends = Tree({n: w for n, w in weights.items() if ".layers." not in n})
        self.register_buffer("angles", _torch.from_numpy(config.angles()))

    def forward(self, ids: Tensor, following: Tensor) -> Tensor:
        """Return the mean loss of sequences of tokens."""
        starts, positions = (
            _torch.from_numpy(make(len(ids))) for make in (train.starts, train.positions)
        )
        w = dict(self.ends.named_parameters())

        def block(layer: int, x: Tensor) -> Tensor:
            return self.layers[layer](self.config, x, (positions, self.angles), starts)

        x = network.hidden(ops, w, self.config, ids.flatten(), block)
        return train.loss(ops, w, x, following.flatten())


class AdamW:
    """The optimiser: one call of the op moves what this process has of the parameters."""

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        self._parameters = parameters
        mine = [_mine(p.detach()) for p in parameters]
        self._mean, self._square = ([torch.zeros_like(p) for p in mine] for _ in range(2))

    def squares(self) -> Tensor:
        """Return the sum of squares of what this process has of the gradients."""
        return torch.stack([_mine(p.grad).square().sum() for p in self._parameters]).sum()

    def step(self, number: int, rate: float) -> None:
        """Move the parameters along their gradients, and forget these."""
        lr, step = _torch.tensor(rate), _torch.tensor(number, dtype=torch.int32)
        for decays in (False, True):  # matrices decay, vectors do not
            of = [i for i, p in enumerate(self._parameters) if (p.ndim == 2) == decays]
            moved = [_mine(self._parameters[i].detach()) for i in of]
            slopes = [_mine(self._parameters[i].grad) for i in of]
            mean, square = ([moments[i] for i in of] for moments in (self._mean, self._square))
            decay = train.DECAY if decays else 0.0
            rates: Any = {"beta2": train.BETA2, "weight_decay": decay}
            ops.adamw(moved, slopes, mean, square, lr, step, **rates)
        for parameter in self._parameters:
            parameter.grad = None


def run(
    config: Config, weights: dict[str, Values], batches: train.Batches, _mesh: tuple[int, int]
) -> Iterator[train.Step]:
    """Train, step by step."""
    w = {name: nn.Parameter(_torch.from_numpy(value)) for name, value in weights.items()}
    decoder = Decoder(config, w)
    with _processes() as (rank, count):
        if count > 1:
            for module in (*decoder.layers, decoder):
                fully_shard(module)
        optimiser = AdamW(list(decoder.parameters()))
        for number, (rate, *batch) in enumerate(batches, start=1):
            mine = slice(rank * train.SEQUENCES // count, (rank + 1) * train.SEQUENCES // count)
            loss = decoder(*(_torch.from_numpy(part[mine]) for part in batch))
            loss.backward()
            sums = torch.stack([loss.detach() / count, optimiser.squares()])
            if count > 1:
                dist.all_reduce(sums)
            optimiser.step(number, rate)
            mean, squares = map(float, sums)
            now = {name: value.detach() for name, value in w.items()}
            yield train.Step(mean, squares**0.5, now)


@contextlib.contextmanager
def _processes() -> Generator[tuple[int, int]]:
    """Give the number of this process and how many there are; only torchrun starts more than one."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield 0, 1
        return
    dist.init_process_group("gloo")
    try:
        yield dist.get_rank(), count
    finally:
        dist.destroy_process_group()


def _mine(tensor: Any) -> Tensor:
    """Return what this process has of a tensor."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor
