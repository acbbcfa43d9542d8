"""The ops of this repository's collection by calls of PyTorch in float64: references to check the references with."""

import numpy as np
import torch
from torch.nn import functional as F


def tensors(function):
    """Let a function over tensors take and return arrays."""

    def wrapped(**arguments):
        values = {
            k: torch.from_numpy(np.array(v)) if isinstance(v, np.ndarray) else v
            for k, v in arguments.items()
        }
        result = function(**values)
        if isinstance(result, tuple):
            return tuple(None if t is None else t.detach().numpy() for t in result)
        return result.detach().numpy()

    wrapped.__wrapped__ = function  # its signature is what the caller looks at
    return wrapped


def gradients(function, grad, inputs, **attrs):
    """Differentiate a wrapped function by autograd; None for an input that is left out."""
    leaves = [None if t is None else t.requires_grad_() for t in inputs]
    result = function.__wrapped__(*leaves, **attrs)
    found = torch.autograd.grad(result, [t for t in leaves if t is not None], grad)
    grads = iter(found)
    return tuple(None if t is None else next(grads) for t in leaves)


@tensors
def eltwise_add(a, b):
    return torch.add(a, b)


@tensors
def eltwise_relu(x):
    return F.relu(x)


@tensors
def gelu(x, approximate):
    return F.gelu(x, approximate=approximate)


@tensors
def gemm(a, b, bias, alpha, activation):
    c = F.linear(a * alpha, b, bias)
    return {"none": torch.clone, "relu": F.relu, "silu": F.silu}[activation](c)


@tensors
def layernorm2d(x, weight, bias, eps):
    variance, mean = torch.var_mean(x, dim=-1, correction=0)
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps), mean, (variance + eps).rsqrt()


@tensors
def rms_norm(x, weight, eps):
    return F.rms_norm(x, x.shape[-1:], weight, eps)


@tensors
def silu_and_mul(x):
    gate, value = torch.chunk(x, 2, dim=-1)
    return F.silu(gate) * value


@tensors
def softmax(x):
    return torch.softmax(x, dim=-1)


@tensors
def fused_add_rms_norm(x, residual, weight, eps):
    total = x + residual
    return F.rms_norm(total, x.shape[-1:], weight, eps), total


@tensors
def conv2d(x, weight, bias, stride, padding, dilation, groups, P, Q):
    """Convolutions without a tap are not all known to PyTorch."""
    if x.numel() == 0 or weight.numel() == 0:
        y = torch.zeros(len(x), len(weight), P, Q, dtype=x.dtype)
        return y if bias is None else y + bias[:, None, None]
    return F.conv2d(x, weight, bias, stride, padding, dilation, groups)


@tensors
def flash_mla_decode(q, kv_nope, kv_rope, kv_scale, kv_indptr, sm_scale):
    plain = kv_nope.unflatten(-1, (7, 64)) * kv_scale[..., None]
    kv = torch.cat([plain.flatten(-2), kv_rope], dim=-1)
    o, lse = torch.zeros_like(q), torch.full(q.shape[:2], -torch.inf, dtype=q.dtype)
    for i, rows in enumerate(torch.tensor_split(kv, kv_indptr.tolist())[1:-1]):
        if len(rows):
            o[i] = F.scaled_dot_product_attention(q[i], rows, rows, scale=sm_scale)
            lse[i] = torch.logsumexp(sm_scale * q[i] @ rows.T, dim=-1)
    return o, lse


@tensors
def eltwise_add_backward(grad_c):
    return gradients(eltwise_add, grad_c, (torch.zeros_like(grad_c), torch.zeros_like(grad_c)))


@tensors
def eltwise_relu_backward(grad_y, y):
    return torch.ops.aten.threshold_backward(grad_y, y, 0)


@tensors
def gelu_backward(grad_y, x, approximate):
    return gradients(gelu, grad_y, (x,), approximate=approximate)


@tensors
def silu_and_mul_backward(grad_y, x):
    return gradients(silu_and_mul, grad_y, (x,))


@tensors
def rms_norm_backward(grad_y, x, weight, eps):
    return gradients(rms_norm, grad_y, (x, weight), eps=eps)


@tensors
def layernorm2d_backward(grad_y, x, weight, mean, rstd):
    """Autograd cannot be given mean and rstd."""
    rows = mean[:, None], rstd[:, None]
    return torch.ops.aten.native_layer_norm_backward(
        grad_y, x, x.shape[-1:], *rows, weight, torch.zeros_like(weight), [True] * 3
    )


@tensors
def softmax_backward(grad_y, y):
    """Autograd would need the logits."""
    return torch.ops.aten._softmax_backward_data(grad_y, y, -1, y.dtype)


@tensors
def gemm_backward(grad_c, a, b, bias, alpha, activation):
    return gradients(gemm, grad_c, (a, b, bias), alpha=alpha, activation=activation)
