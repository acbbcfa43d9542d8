"""An independent formula: autograd of a product with a matrix of the weights."""

import numpy as np


def independent(torch, grad_y, permuted, row_map, weights):
    permuted, weights = permuted.requires_grad_(), weights.requires_grad_()
    tokens, slots = torch.nonzero(row_map >= 0, as_tuple=True)
    scatter = torch.zeros(len(row_map), len(permuted), dtype=permuted.dtype)
    places = (tokens, row_map[tokens, slots].long())
    y = scatter.index_put(places, weights[tokens, slots], accumulate=True) @ permuted
    return torch.autograd.grad(y, (permuted, weights), grad_y)


def samples(rng, sizes):
    n, k, m = sizes["N"], sizes["k"], sizes["M"]
    places = rng.permutation(max(m, n * k))[: n * k]
    places = np.where((places >= m) | (rng.random(n * k) < 0.2), -1, places)
    return {"row_map": places.reshape(n, k)}


def eager(torch, grad_y, permuted, row_map, weights):
    absent, rows = row_map < 0, row_map.clamp(min=0)
    shares = weights.masked_fill(absent, 0).to(permuted.dtype)
    spread = (grad_y[:, None] * shares[..., None]).flatten(0, 1)
    grad_permuted = torch.zeros_like(permuted).index_add_(0, rows.flatten(), spread)
    grad_weights = (permuted[rows].float() @ grad_y.float()[..., None])[..., 0]
    return grad_permuted, grad_weights.masked_fill(absent, 0)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
