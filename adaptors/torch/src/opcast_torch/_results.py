"""Memory for the results of plain calls on the CPU.

PyTorch's public functions take twice as long as the kernel of a tiny call. What the code that Inductor
generates allocates with takes a third; it wants strides, so those of every shape are kept.
"""

from __future__ import annotations

from typing import Any

import torch

from ._state import native

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


def _empty(shape: Shape, strides: Shape, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(shape, strides, dtype=dtype, device="cpu")


layouts = _Layouts()
# No public name, but all releases have it.
empty: Any = getattr(native._dynamo.guards, "_empty_strided_cpu", _empty)
