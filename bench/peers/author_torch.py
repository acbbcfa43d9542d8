"""The Python side of the extension in rms_norm_author.cc, as PyTorch's tutorial says."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_library: Any = torch.library
_ops: Any = torch.ops.opcast_author


@_library.register_fake("opcast_author::rms_norm")
def _rms_norm_fake(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    return torch.empty_like(x)


@_library.register_fake("opcast_author::rms_norm_backward")
def _rms_norm_backward_fake(
    grad_y: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-6
) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(weight)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight)


def _differentiate(ctx: Any, grad_y: Tensor) -> tuple[Tensor, Tensor, None]:
    return *_ops.rms_norm_backward(grad_y, *ctx.saved_tensors, ctx.eps), None


_library.register_autograd("opcast_author::rms_norm", _differentiate, setup_context=_keep)


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Divide every row of x by its root mean square and scale it by weight."""
    return _ops.rms_norm(x, weight, eps)
