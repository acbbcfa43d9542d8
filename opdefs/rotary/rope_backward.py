"""The reference and an independent formula."""

import numpy as np


def reference(grad_q_rope, grad_k_rope, positions, cos_sin_cache, interleave):
    half = cos_sin_cache.shape[1] // 2
    cos, sin = (part[positions][:, None] for part in np.split(cos_sin_cache, [half], axis=1))
    first = slice(0, 2 * half, 2) if interleave else slice(0, half)
    second = slice(1, 2 * half, 2) if interleave else slice(half, 2 * half)

    def turned_back(y):
        x = y.copy()
        x[..., first] = y[..., first] * cos + y[..., second] * sin
        x[..., second] = y[..., second] * cos - y[..., first] * sin
        return x

    return turned_back(grad_q_rope), turned_back(grad_k_rope)


def independent(torch, grad_q_rope, grad_k_rope, positions, cos_sin_cache, interleave):
    turns = torch.complex(*cos_sin_cache[positions.long()].chunk(2, dim=-1))[:, None]
    width = cos_sin_cache.shape[1]

    def gradient(of_result):
        x = torch.zeros_like(of_result, requires_grad=True)
        pairs = x[..., :width]
        if interleave:
            even, odd = pairs[..., ::2], pairs[..., 1::2]
            turned = torch.view_as_real(torch.complex(even, odd) * turns).flatten(-2)
        else:
            turned = torch.complex(*pairs.chunk(2, dim=-1)) * turns
            turned = torch.cat([turned.real, turned.imag], dim=-1)
        result = torch.cat([turned, x[..., width:]], dim=-1)
        return torch.autograd.grad(result, x, of_result)[0]

    return gradient(grad_q_rope), gradient(grad_k_rope)


def eager(torch, grad_q_rope, grad_k_rope, positions, cos_sin_cache, interleave):
    cos, sin = cos_sin_cache[positions][:, None].to(grad_q_rope.dtype).chunk(2, dim=-1)
    width = cos_sin_cache.shape[1]

    def turned(x):
        pairs = x[..., :width]
        a, b = (pairs[..., ::2], pairs[..., 1::2]) if interleave else pairs.chunk(2, dim=-1)
        parts = [a * cos + b * sin, b * cos - a * sin]
        result = torch.stack(parts, dim=-1).flatten(-2) if interleave else torch.cat(parts, dim=-1)
        return result if width == x.shape[-1] else torch.cat([result, x[..., width:]], dim=-1)

    return turned(grad_q_rope), turned(grad_k_rope)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
