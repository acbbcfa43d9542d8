"""What PyTorch is doing right now, as far as it has public names for that."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import graph

from ._private import forward_mode, functorch

_jit: Any = torch.jit
compiling: Callable[[], bool] = torch.compiler.is_compiling
tracing: Callable[[], bool] = _jit.is_tracing
grad_enabled: Callable[[], bool] = torch.is_grad_enabled
_forward_ad: Any = torch.autograd.forward_ad


def bump(written: Iterable[Tensor | None]) -> None:
    """Tell autograd that tensors were overwritten."""
    graph.increment_version([x for x in written if x is not None and not x.is_inference()])


def wanted(args: Iterable[Any]) -> bool:
    """Whether a gradient may be asked for."""
    return grad_enabled() and any(isinstance(x, Tensor) and x.requires_grad for x in args)


def has_tangent(args: Iterable[Any]) -> bool:
    """Whether forward-mode differentiation goes through one of the arguments.

    There is one level of it. Graphs that torch.compile made of torch.func enter it unseen.
    """
    if not forward_mode() and functorch() is None:
        return False
    return any(
        isinstance(x, Tensor) and _forward_ad.unpack_dual(x, level=0).tangent is not None
        for x in args
    )


def stands_for_tensor(x: object) -> bool:
    """Whether x is no tensor but answers PyTorch's calls, as the proxies of torch.fx do."""
    return hasattr(type(x), "__torch_function__") and not isinstance(x, Tensor)
