"""The reference, an independent formula, and scales of the size that they have in models."""

import numpy as np


def scaled(x, scale):
    """Multiply the blocks of the last two dims by their scales."""
    for axis in (-2, -1):
        scale = np.repeat(scale, x.shape[axis] // max(scale.shape[axis], 1), axis=axis)
    return x * scale


def reference(a, b, a_scale, b_scale, expert_offsets, masked_m):
    a, b = scaled(a, a_scale), scaled(b, b_scale)
    c = np.zeros((len(a), b.shape[1]))
    for e, (begin, end) in enumerate(zip(expert_offsets[:-1], expert_offsets[1:], strict=True)):
        rows = slice(begin, end if masked_m is None else min(end, begin + masked_m[e]))
        c[rows] = a[rows] @ b[e].T
    return c


def independent(torch, a, b, a_scale, b_scale, expert_offsets, masked_m):
    rows = torch.arange(len(a))
    begins, ends = expert_offsets[:-1].long(), expert_offsets[1:].long()
    if masked_m is not None:
        ends = torch.minimum(ends, begins + masked_m)
    of_expert = (rows >= begins[:, None]) & (rows < ends[:, None])
    groups, per_row = b_scale.shape[2], b.shape[1] // b_scale.shape[1]
    a = torch.einsum("mck,mc->mck", a.unflatten(1, (groups, a.shape[1] // groups)), a_scale)
    b = b.unflatten(2, (groups, b.shape[2] // groups))
    scales = b_scale.repeat_interleave(per_row, 1)
    return torch.einsum("em,mck,enck,enc->mn", of_expert.double(), a, b, scales)


def samples(rng, sizes):
    m, e, k = sizes["M"], sizes["E"], sizes["K"]
    return {
        "a_scale": rng.uniform(0.5, 2, (m, sizes["C"])),
        "b_scale": rng.uniform(0.5, 2, (e, sizes["R"], sizes["C"])) / max(1, k) ** 0.5,
        "masked_m": rng.integers(0, m // max(1, e) + 2, e).clip(max=m),
    }


def eager(torch, a, b, a_scale, b_scale, expert_offsets, out_dtype):
    groups, per_row = b_scale.shape[2], b.shape[1] // b_scale.shape[1]
    rows = b_scale.repeat_interleave(per_row, 1)
    left, right = (
        (x.to(out_dtype).unflatten(-1, (groups, -1)) * scale[..., None].to(out_dtype)).flatten(-2)
        for x, scale in ((a, a_scale), (b, rows))
    )
    return torch._grouped_mm(left, right.mT, offs=expert_offsets[1:])


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
