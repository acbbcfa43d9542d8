"""An independent formula, and log-sum-exps of which some are those of nothing."""

import numpy as np


def lowered(xp, *scores):
    """Return log-sum-exps with -inf for no keys."""
    return [xp.where(s == np.inf, -np.inf, s) for s in scores]


def independent(torch, v_a, s_a, v_b, s_b):
    s_a, s_b = lowered(torch, s_a, s_b)
    s = torch.logaddexp(s_a, s_b)
    parts = [
        torch.where(part == -torch.inf, 0, torch.exp(part - s))[..., None] for part in (s_a, s_b)
    ]
    return torch.lerp(v_b * (parts[0] + parts[1] > 0), v_a, parts[0]), s


def samples(rng, sizes):
    def scores():
        s = rng.standard_normal((sizes["N"], sizes["H"])) * 3
        s = np.where(rng.random(s.shape) < 0.2, -np.inf, s)
        return np.where(rng.random(s.shape) < 0.1, np.inf, s)

    return {"s_a": scores(), "s_b": scores()}


def eager(torch, v_a, s_a, v_b, s_b):
    s_a, s_b = lowered(torch, s_a, s_b)
    s = torch.logaddexp(s_a, s_b)
    a, b = (torch.exp(part - s).nan_to_num(0)[..., None] for part in (s_a, s_b))
    return (a * v_a + b * v_b).to(v_a.dtype), s


def fused(jax, v_a, s_a, v_b, s_b):
    s_a, s_b = lowered(jax.numpy, s_a, s_b)
    s = jax.numpy.logaddexp(s_a, s_b)
    a, b = (jax.numpy.nan_to_num(jax.numpy.exp(part - s))[..., None] for part in (s_a, s_b))
    return (a * v_a + b * v_b).astype(v_a.dtype), s


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
