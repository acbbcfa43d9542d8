"""A second formula."""

import numpy as np


def independent(grad_y, kept, p):
    keep = np.unpackbits(kept, bitorder="little")[: len(grad_y)]
    return np.array([g / (1 - p) if k and p < 1 else 0 for g, k in zip(grad_y, keep, strict=True)])


def eager(torch, grad_y, kept, p):
    bits = kept[:, None] >> torch.arange(8, dtype=torch.uint8, device=kept.device) & 1
    kept = bits.flatten()[: len(grad_y)].bool()
    return torch.where(kept, grad_y * (1 / (1 - p) if p < 1 else 0), 0)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
