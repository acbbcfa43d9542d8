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


def eager(torch, row_map, grad_permuted):
    rows = grad_permuted[row_map.clamp(min=0)]
    return rows.masked_fill((row_map < 0)[..., None], 0).sum(1)


def bags(torch, row_map, grad_permuted):
    shares = (row_map >= 0).to(grad_permuted.dtype)
    bag = torch.nn.functional.embedding_bag
    return bag(row_map.clamp(min=0), grad_permuted, mode="sum", per_sample_weights=shares)


def peers(framework):
    return {"torch": {"torch": eager, "torch, bags": bags}}.get(framework)
