"""Special calls in which PaddlePaddle has to notice, or to refuse, that memory is written."""

from __future__ import annotations

from typing import Any

from opcast_worker.aliasing import Aliasing, floating, tensors
from opcast_worker.paddle_transform import ADVICE, tracked


class PaddleAliasing(Aliasing):
    """Probes of versions and of the view that PaddlePaddle's nodes have of memory."""

    advice = ADVICE
    faults = (RuntimeError, OSError)  # PaddlePaddle's own, and one that quotes ours
    keeper = "a node keeps"
    bytes_of_products = 3

    def versions(self, every: list[Any]) -> list[int]:
        """Return how often PaddlePaddle thinks that the tensors were written."""
        return [x.inplace_version for x in every]

    def track(self, x: Any) -> Any:
        """Let a gradient flow to a tensor, and return it."""
        return tracked(x)

    def tracked(self, x: Any) -> bool:
        """Whether a gradient flows to a tensor."""
        return not x.stop_gradient

    def overwrite(self, every: list[Any]) -> None:
        """Say that tensors were written."""
        for x in every:
            x.detach()._bump_inplace_version()

    def total(self, results: Any) -> Any:
        """Return the sum of all results that have a gradient, in a dtype that PaddlePaddle can add."""
        return sum(x.astype("float32").sum() for x in tensors(results) if floating(x))


create = PaddleAliasing
