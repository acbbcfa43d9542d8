"""The peers in Python for PyTorch, around the exported functions, as PyTorch's documentation says.

Each op once as ``torch.library.custom_op`` with ``register_autograd``, and once as
``torch.autograd.Function``, in the form whose forward takes the context: the other one, with
``setup_context``, is several times slower.
"""

from __future__ import annotations

import importlib
from typing import Any

import opcast_backend
import torch
from torch import Tensor

_functional: Any = torch.nn.functional
_library: Any = torch.library
_Function: Any = torch.autograd.Function


def _exported(op: str) -> Any:
    return opcast_backend.function(op, opcast_backend.ops()[op].schema)


kernel: Any = _exported("rms_norm")
_rms_norm_backward = _exported("rms_norm_backward")
_silu_and_mul = _exported("silu_and_mul")
_silu_and_mul_backward = _exported("silu_and_mul_backward")
_SCRATCH = None  # what rms_norm_backward works in, which its kernel for the CPU does not take


class RmsNorm(_Function):
    """Compute rms_norm with a gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        """Normalise."""
        ctx.save_for_backward(x, weight)
        ctx.eps = eps
        y = torch.empty_like(x)
        kernel(y, x.contiguous(), weight.contiguous(), eps)
        return y

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor) -> tuple[Tensor, Tensor, None]:
        """Return the gradients."""
        x, weight = ctx.saved_tensors
        grad_x, grad_weight = torch.empty_like(x), torch.empty_like(weight)
        grad_y = grad_y.contiguous()
        read = grad_y, x.contiguous(), weight.contiguous()
        _rms_norm_backward(grad_x, grad_weight, *read, ctx.eps, _SCRATCH)
        return grad_x, grad_weight, None


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Call the function above."""
    return RmsNorm.apply(x, weight, eps)


class SiluAndMul(_Function):
    """Compute silu_and_mul with a gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """Gate."""
        ctx.save_for_backward(x)
        y = x.new_empty((*x.shape[:-1], x.shape[-1] // 2))
        _silu_and_mul(y, x.contiguous())
        return y

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor) -> Tensor:
        """Return the gradient."""
        (x,) = ctx.saved_tensors
        grad_x = torch.empty_like(x)
        _silu_and_mul_backward(grad_x, grad_y.contiguous(), x.contiguous())
        return grad_x


silu_and_mul: Any = SiluAndMul.apply


_dispatch: Any = importlib.import_module("torch.utils._python_dispatch")


class Mode(_dispatch.TorchDispatchMode):
    """Sees every op, and calls it."""

    def __torch_dispatch__(self, op: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the op."""
        return op(*args, **(kwargs or {}))


def like_first(x: Tensor, *_: Any) -> Tensor:
    """Return the shape of rms_norm's result."""
    return torch.empty_like(x)


def _custom(name: str, function: Any, fake: Any) -> Any:
    op = _library.custom_op(f"opcast_bench::{name}", function, mutates_args=())
    op.register_fake(fake)
    return op


def _rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    y = torch.empty_like(x)
    kernel(y, x.contiguous(), weight.contiguous(), eps)
    return y


def _rms_norm_fake(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    return torch.empty_like(x)


def _rms_norm_gradients(
    grad_y: Tensor, x: Tensor, weight: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    grad_x, grad_weight = torch.empty_like(x), torch.empty_like(weight)
    grad_y = grad_y.contiguous()
    read = grad_y, x.contiguous(), weight.contiguous()
    _rms_norm_backward(grad_x, grad_weight, *read, eps, _SCRATCH)
    return grad_x, grad_weight


def _rms_norm_gradients_fake(
    grad_y: Tensor, x: Tensor, weight: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(weight)


def _gate(x: Tensor) -> Tensor:
    y = x.new_empty((*x.shape[:-1], x.shape[-1] // 2))
    _silu_and_mul(y, x.contiguous())
    return y


def _gate_fake(x: Tensor) -> Tensor:
    return x.new_empty((*x.shape[:-1], x.shape[-1] // 2))


def _gate_gradient(grad_y: Tensor, x: Tensor) -> Tensor:
    grad_x = torch.empty_like(x)
    _silu_and_mul_backward(grad_x, grad_y.contiguous(), x.contiguous())
    return grad_x


def _gate_gradient_fake(grad_y: Tensor, x: Tensor) -> Tensor:
    return torch.empty_like(x)


custom_op = _custom("custom", _rms_norm, _rms_norm_fake)
custom_silu_and_mul = _custom("custom_silu", _gate, _gate_fake)
_backward = _custom("custom_backward", _rms_norm_gradients, _rms_norm_gradients_fake)
_silu_backward = _custom("custom_silu_backward", _gate_gradient, _gate_gradient_fake)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*[x for x in inputs if isinstance(x, Tensor)])
    ctx.attrs = [x for x in inputs if not isinstance(x, Tensor)]


def _differentiate(ctx: Any, grad_y: Tensor) -> tuple[Tensor, Tensor, None]:
    return (*_backward(grad_y, *ctx.saved_tensors, *ctx.attrs), None)


def _differentiate_silu(ctx: Any, grad_y: Tensor) -> Tensor:
    return _silu_backward(grad_y, *ctx.saved_tensors)


custom_op.register_autograd(_differentiate, setup_context=_keep)
custom_silu_and_mul.register_autograd(_differentiate_silu, setup_context=_keep)


def native_rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """Call PyTorch's own rms_norm."""
    return _functional.rms_norm(x, (x.shape[-1],), weight, 1e-6)


def native_silu_and_mul(x: Tensor) -> Tensor:
    """Compute the same with operations of PyTorch."""
    gate, value = x.tensor_split(2, -1)
    return _functional.silu(gate) * value
