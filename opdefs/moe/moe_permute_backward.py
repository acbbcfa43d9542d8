"""An independent formula, and a map as moe_permute makes it."""

import numpy as np


def independent(torch, grad_permuted, row_map):
    tokens, slots = torch.nonzero(row_map >= 0, as_tuple=True)
    rows = grad_permuted[row_map[tokens, slots].long()]
    return torch.zeros(len(row_map), rows.shape[1], dtype=rows.dtype).index_add(0, tokens, rows)


def samples(rng, sizes):
    places = rng.permutation(sizes["N"] * sizes["k"])
    places = np.where(rng.random(len(places)) < 0.2, -1, places)
    return {"row_map": places.reshape(sizes["N"], sizes["k"])}
