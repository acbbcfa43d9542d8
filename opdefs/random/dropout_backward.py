"""A second formula."""

import numpy as np


def independent(grad_y, kept, p):
    keep = np.unpackbits(kept, bitorder="little")[: len(grad_y)]
    return np.array([g / (1 - p) if k and p < 1 else 0 for g, k in zip(grad_y, keep, strict=True)])
