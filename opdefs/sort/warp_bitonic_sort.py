"""An independent formula, and rows with equal numbers."""

import numpy as np


def independent(torch, x, is_descending):
    return torch.sort(x, dim=-1, descending=is_descending).values


def samples(rng, sizes):
    shape = (*sizes["*"], sizes["L"])
    few = np.array([-np.inf, -1, -0.0, 0, 1e-40, 1, 3e38, np.inf])
    x = np.where(rng.random(shape) < 0.2, rng.choice(few, shape), rng.standard_normal(shape))
    return {"x": x.astype(np.float32)}


def eager(torch, x, is_descending):
    return torch.sort(x, dim=-1, descending=is_descending).values


def fused(jax, x, is_descending):
    return jax.numpy.sort(x, axis=-1, descending=is_descending)


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
