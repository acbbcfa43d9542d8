"""The reference and an independent formula."""

import numpy as np


def reference(q, k, positions, cos_sin_cache, interleave):
    half = cos_sin_cache.shape[1] // 2
    cos, sin = (part[positions][:, None] for part in np.split(cos_sin_cache, [half], axis=1))
    first = slice(0, 2 * half, 2) if interleave else slice(0, half)
    second = slice(1, 2 * half, 2) if interleave else slice(half, 2 * half)

    def turned(x):
        y = x.copy()
        y[..., first] = x[..., first] * cos - x[..., second] * sin
        y[..., second] = x[..., second] * cos + x[..., first] * sin
        return y

    return turned(q), turned(k)


def independent(torch, q, k, positions, cos_sin_cache, interleave):
    turns = torch.complex(*cos_sin_cache[positions.long()].chunk(2, dim=-1))[:, None]
    width = cos_sin_cache.shape[1]

    def turned(x):
        pairs = x[..., :width]
        if interleave:
            result = torch.complex(pairs[..., ::2], pairs[..., 1::2]) * turns
            result = torch.view_as_real(result).flatten(-2)
        else:
            result = torch.complex(*pairs.chunk(2, dim=-1)) * turns
            result = torch.cat([result.real, result.imag], dim=-1)
        return torch.cat([result, x[..., width:]], dim=-1)

    return turned(q), turned(k)


def eager(torch, q, k, positions, cos_sin_cache, interleave):
    cos, sin = cos_sin_cache[positions][:, None].to(q.dtype).chunk(2, dim=-1)
    width = cos_sin_cache.shape[1]

    def turned(x):
        pairs = x[..., :width]
        a, b = (pairs[..., ::2], pairs[..., 1::2]) if interleave else pairs.chunk(2, dim=-1)
        parts = [a * cos - b * sin, b * cos + a * sin]
        result = torch.stack(parts, dim=-1).flatten(-2) if interleave else torch.cat(parts, dim=-1)
        return result if width == x.shape[-1] else torch.cat([result, x[..., width:]], dim=-1)

    return turned(q), turned(k)


def kernel(flashinfer, q, k, positions, cos_sin_cache, interleave):
    found = flashinfer.apply_rope_with_cos_sin_cache(
        positions, q.flatten(1), k.flatten(1), q.shape[-1], cos_sin_cache, is_neox=not interleave
    )
    return [x.unflatten(1, (-1, q.shape[-1])) for x in found]


def peers(framework):
    return {"torch": {"torch": eager, "flashinfer": kernel}}.get(framework)
