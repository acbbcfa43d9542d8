"""PyTorch's own functions, called as the definitions in opdefs/ say."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, *, eps: float = 1e-6) -> Tensor:
    """Call torch.nn.functional.rms_norm over the last axis."""
    return F.rms_norm(x, weight.shape, weight, eps)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, *, eps: float = 1e-5) -> Tensor:
    """Call torch.nn.functional.layer_norm over the last axis."""
    return F.layer_norm(x, weight.shape, weight, bias, eps)


def softmax(x: Tensor) -> Tensor:
    """Call torch.softmax over the last axis."""
    return torch.softmax(x, -1)


def gelu(x: Tensor, *, approximate: str) -> Tensor:
    """Call torch.nn.functional.gelu."""
    return F.gelu(x, approximate=approximate)


def silu(x: Tensor) -> Tensor:
    """Call torch.nn.functional.silu."""
    return F.silu(x)
