"""Cases of gradient ops, beside PyTorch's own backward pass and formulas for compilers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import torch
from kernel_case import Case, like
from kernel_rows import aten, gated, gated_lax, halves, layer_lax, ops, rms_lax
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Function = Callable[..., Any]

_torch: Any = functional
_jax: Any = jax
_jnp: Any = jnp
_nn: Any = jax.nn


def tape(function: Function, inputs: Sequence[torch.Tensor]) -> Function:
    """Return PyTorch's backward pass of a function at inputs, as a function of the cotangent first."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    with torch.enable_grad():
        result = function(*leaves)
    grad: Any = torch.autograd.grad

    def back(cotangent: torch.Tensor, *_: torch.Tensor) -> Any:
        return grad(result, leaves, cotangent, retain_graph=True)

    return back


def transposed(function: Function) -> Function:
    """Return JAX's gradient of a function, as a function of the cotangent and its inputs."""

    def back(cotangent: Any, *inputs: Any) -> Any:
        return _jax.vjp(function, *inputs)[1](cotangent)

    return back


def cases(rows: int, n: int, dtype: torch.dtype) -> Iterator[Case]:
    """Yield the cases of gradient ops for this shape and dtype."""
    shape = f"{rows}x{n}"
    x, grad = torch.randn(rows, n).to(dtype), torch.randn(rows, n).to(dtype)
    w = torch.randn(n).to(dtype)
    yield _add(shape, grad)
    yield _relu(shape, grad, torch.relu(x))
    yield _softmax(shape, grad, x)
    yield _gelu(shape, grad, x, "none")
    yield _gelu(shape, grad, x, "tanh")
    yield _gated(shape, grad, torch.randn(rows, 2 * n).to(dtype))
    yield _rms(shape, grad, x, w)
    yield _layer(shape, grad, x, w)


def _add(shape: str, grad: torch.Tensor) -> Case:
    """Return the case of two copies: PyTorch and JAX would pass on the same array."""

    def copies(grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return grad.clone(), grad.clone()

    def copied(a: torch.Tensor, b: torch.Tensor, grad: torch.Tensor) -> None:
        a.copy_(grad)
        b.copy_(grad)

    call, out = ops.eltwise_add_backward, like(grad, grad)
    return Case("eltwise_add_backward", shape, [grad], call, copies, out=out, eager_out=copied)


def _relu(shape: str, grad: torch.Tensor, y: torch.Tensor) -> Case:
    def eager(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return aten.threshold_backward(grad, y, 0)

    def given(to: torch.Tensor, grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return aten.threshold_backward.grad_input(grad, y, 0, grad_input=to)

    def lax(grad: Any, y: Any) -> Any:
        return _jnp.where(y <= 0, 0, grad)

    call, arrays, out = ops.eltwise_relu_backward, [grad, y], like(grad)
    return Case("eltwise_relu_backward", shape, arrays, call, eager, lax, out, given, eager)


def _softmax(shape: str, grad: torch.Tensor, x: torch.Tensor) -> Case:
    def eager(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return aten._softmax_backward_data(grad, y, -1, y.dtype)

    def given(to: torch.Tensor, grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return aten._softmax_backward_data.out(grad, y, -1, y.dtype, grad_input=to)

    def lax(grad: Any, y: Any) -> Any:
        wide, by = grad.astype(_jnp.float32), y.astype(_jnp.float32)
        return (by * (wide - (wide * by).sum(-1, keepdims=True))).astype(y.dtype)

    call, arrays, out = ops.softmax_backward, [grad, torch.softmax(x, -1)], like(grad)
    return Case("softmax_backward", shape, arrays, call, eager, lax, out, given, eager)


def _gelu(shape: str, grad: torch.Tensor, x: torch.Tensor, approximate: str) -> Case:
    def given(to: torch.Tensor, grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return aten.gelu_backward.grad_input(grad, x, approximate=approximate, grad_input=to)

    kind = "tanh" if approximate == "tanh" else "exact"
    call = partial(ops.gelu_backward, approximate=approximate)
    eager = partial(aten.gelu_backward, approximate=approximate)
    lax = transposed(partial(_nn.gelu, approximate=approximate == "tanh"))
    op, arrays, out = f"gelu_backward, {kind}", [grad, x], like(grad)
    return Case(op, shape, arrays, call, eager, lax, out, given, eager)


def _gated(shape: str, grad: torch.Tensor, pair: torch.Tensor) -> Case:
    def formula(grad: torch.Tensor, pair: torch.Tensor) -> torch.Tensor:
        gate, value = halves(pair)
        sigmoid = torch.sigmoid(gate)
        slope = sigmoid * (1 + gate * (1 - sigmoid))
        return torch.cat([grad * value * slope, grad * gate * sigmoid], -1)

    call, eager, lax = ops.silu_and_mul_backward, tape(gated, [pair]), transposed(gated_lax)
    arrays, out = [grad, pair], like(pair)
    return Case("silu_and_mul_backward", shape, arrays, call, eager, lax, out, formula=formula)


def _rms(shape: str, grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Case:
    def forward(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return _torch.rms_norm(x, w.shape, w, 1e-6)

    def formula(grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
        g, v = grad.float(), x.float()
        scale = torch.rsqrt((v * v).mean(-1, keepdim=True) + 1e-6)
        weighted = g * w.float()
        along = v * (scale * scale * (weighted * v).mean(-1, keepdim=True))
        grad_x = scale * (weighted - along)
        return grad_x.to(x.dtype), (g * v * scale).sum(0).to(w.dtype)

    call, eager, lax = ops.rms_norm_backward, tape(forward, [x, w]), transposed(rms_lax)
    arrays, out = [grad, x, w], like(x, w)
    return Case("rms_norm_backward", shape, arrays, call, eager, lax, out, formula=formula)


def _layer(shape: str, grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Case:
    def forward(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return _torch.layer_norm(x, w.shape, w, b)

    def formula(
        grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor
    ) -> Any:
        g, normal = grad.float(), (x.float() - mean[:, None]) * rstd[:, None]
        weighted = g * w.float()
        along = normal * (weighted * normal).mean(-1, keepdim=True)
        grad_x = rstd[:, None] * (weighted - weighted.mean(-1, keepdim=True) - along)
        sums = (g * normal).sum(0).to(w.dtype), g.sum(0).to(w.dtype)
        return grad_x.to(x.dtype), *sums

    def lax(grad: Any, x: Any, w: Any, *_: Any) -> Any:
        return transposed(layer_lax)(grad, x, w, _jnp.zeros_like(w))

    mean = x.float().mean(-1)
    rstd = torch.rsqrt(x.float().var(-1, correction=0) + 1e-5)
    call, eager = ops.layernorm2d_backward, tape(forward, [x, w, torch.zeros_like(w)])
    arrays, out = [grad, x, w, mean, rstd], like(x, w, w)
    return Case("layernorm2d_backward", shape, arrays, call, eager, lax, out, formula=formula)
