"""Memory for the results and the scratch of plain calls.

PyTorch's public functions take twice as long as the kernel of a tiny call. What the code that Inductor
generates allocates with takes a third; it wants strides, so those of every shape are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ._state import native

if TYPE_CHECKING:
    from collections.abc import Callable

_KEPT = 4096  # shapes after which the table begins anew: programs with more are not in a hurry

Shape = tuple[int, ...]


class _Layouts(dict[Shape, tuple[Shape, Shape]]):
    """Shapes as plain tuples, each with the strides of dense memory."""

    def __missing__(self, shape: Shape) -> tuple[Shape, Shape]:
        if len(self) >= _KEPT:
            self.clear()
        strides: list[int] = []
        step = 1
        for n in reversed(shape):
            strides.append(step)
            step *= max(n, 1)
        made = self[shape] = tuple(shape), tuple(reversed(strides))
        return made


layouts = _Layouts()


def allocator(device: torch.device) -> Callable[[Shape, Shape, torch.dtype], torch.Tensor]:
    """Return what makes a tensor of the given shape, strides and dtype on a device."""
    if (
        device.type == "cpu" or torch.cuda.device_count() == 1
    ):  # that for CUDA takes the current one
        # No public names, but all releases have them.
        fast = getattr(native._dynamo.guards, f"_empty_strided_{device.type}", None)
        if fast is not None:
            return fast

    def empty(shape: Shape, strides: Shape, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty_strided(shape, strides, dtype=dtype, device=device)

    return empty
