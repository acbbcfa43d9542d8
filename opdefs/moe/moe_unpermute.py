"""An independent formula, and a map that names no row twice."""

import numpy as np


def independent(torch, permuted, row_map, weights):
    tokens, slots = torch.nonzero(row_map >= 0, as_tuple=True)
    scatter = torch.zeros(len(row_map), len(permuted), dtype=permuted.dtype)
    places = (tokens, row_map[tokens, slots].long())
    return scatter.index_put(places, weights[tokens, slots], accumulate=True) @ permuted


def samples(rng, sizes):
    n, k, m = sizes["N"], sizes["k"], sizes["M"]
    places = rng.permutation(max(m, n * k))[: n * k]
    places = np.where((places >= m) | (rng.random(n * k) < 0.2), -1, places)
    return {"row_map": places.reshape(n, k)}


def eager(torch, permuted, row_map, weights):
    weights = weights.masked_fill(row_map < 0, 0).to(permuted.dtype)
    return torch.bmm(weights[:, None], permuted[row_map.clamp(min=0)])[:, 0]


def bags(torch, permuted, row_map, weights):
    shares = weights.masked_fill(row_map < 0, 0).to(permuted.dtype)
    bag = torch.nn.functional.embedding_bag
    return bag(row_map.clamp(min=0), permuted, mode="sum", per_sample_weights=shares)


def peers(framework):
    return {"torch": {"torch": eager, "torch, bags": bags}}.get(framework)
