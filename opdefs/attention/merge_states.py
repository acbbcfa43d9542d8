"""An independent formula, and log-sum-exps of which some are those of nothing."""

import numpy as np


def independent(torch, v_parts, s_parts):
    s_parts = torch.where(s_parts == torch.inf, -torch.inf, s_parts)
    s = torch.logsumexp(s_parts, dim=1)
    weights = torch.nan_to_num(torch.softmax(s_parts, dim=1))
    return torch.einsum("nshd,nsh->nhd", v_parts, weights), s


def samples(rng, sizes):
    s = rng.standard_normal((sizes["N"], sizes["S"], sizes["H"])) * 3
    s = np.where(rng.random(s.shape) < 0.3, -np.inf, s)
    return {"s_parts": np.where(rng.random(s.shape) < 0.1, np.inf, s)}


def eager(torch, v_parts, s_parts):
    s_parts = torch.where(s_parts == torch.inf, -torch.inf, s_parts)
    s = torch.logsumexp(s_parts, dim=1)
    weights = torch.exp(s_parts - s[:, None]).nan_to_num(0)
    return torch.einsum("nsh,nshd->nhd", weights.to(v_parts.dtype), v_parts), s


def fused(jax, v_parts, s_parts):
    s_parts = jax.numpy.where(s_parts == jax.numpy.inf, -jax.numpy.inf, s_parts)
    s = jax.nn.logsumexp(s_parts, axis=1)
    weights = jax.numpy.nan_to_num(jax.numpy.exp(s_parts - s[:, None]))
    return (weights[..., None] * v_parts).sum(1).astype(v_parts.dtype), s


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
