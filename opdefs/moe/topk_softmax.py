"""An independent formula, and logits with ties."""

import numpy as np


def independent(torch, gating, k, renormalize):
    ids = torch.sort(gating, dim=-1, descending=True, stable=True).indices[:, :k]
    if renormalize:
        return torch.softmax(torch.gather(gating, -1, ids), dim=-1), ids
    return torch.gather(torch.softmax(gating, dim=-1), -1, ids), ids


def samples(rng, sizes):
    logits = rng.standard_normal((sizes["N"], sizes["E"]))
    ties = rng.random(logits.shape) < 0.3
    return {"gating": np.where(ties, np.round(logits), logits)}


def eager(torch, gating, k, renormalize):
    # Of equal logits, any expert is right: ids are computed and not compared.
    if renormalize:
        logits, ids = torch.topk(gating, k)
        weights = torch.softmax(logits, dim=-1, dtype=torch.float32)
    else:
        weights, ids = torch.topk(torch.softmax(gating, dim=-1, dtype=torch.float32), k)
    ids.int()
    return weights, None


def fused(jax, gating, k, renormalize):
    weights, _ = jax.lax.top_k(jax.nn.softmax(gating.astype("float32")), k)
    return (weights / weights.sum(-1, keepdims=True) if renormalize else weights), None


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
