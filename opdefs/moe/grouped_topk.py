"""The reference, and an independent formula.

The score of a group is the sum of its two best experts where there is a bias, as in DeepSeek-V3, and else that of its
best one, as in DeepSeek-V2.
"""

import numpy as np


def reference(
    scores, bias, k, num_groups, topk_groups, renormalize, routed_scaling_factor, scoring
):
    if scoring == "sigmoid":
        values = 1 / (1 + np.exp(-scores))
    else:
        values = np.exp(scores - np.max(scores, axis=-1, keepdims=True, initial=-np.inf))
        values = values / np.sum(values, axis=-1, keepdims=True)
    compared = values if bias is None else values + bias
    size = scores.shape[1] // num_groups
    best = -np.sort(-compared.reshape(len(scores), num_groups, size), axis=-1)
    worth = best[..., 0] if bias is None or size == 1 else best[..., 0] + best[..., 1]
    taken = np.zeros(worth.shape, bool)
    np.put_along_axis(
        taken, np.argsort(-worth, axis=-1, kind="stable")[:, :topk_groups], True, axis=-1
    )
    order = np.argsort(-compared, axis=-1, kind="stable")
    left_out = ~np.take_along_axis(np.repeat(taken, size, axis=-1), order, axis=-1)
    ids = np.take_along_axis(order, np.argsort(left_out, axis=-1, kind="stable")[:, :k], axis=-1)
    weights = np.take_along_axis(values, ids, axis=-1)
    if renormalize:
        weights = weights / (np.sum(weights, axis=-1, keepdims=True) + 1e-20)
    return weights * routed_scaling_factor, ids


def independent(
    torch, scores, bias, k, num_groups, topk_groups, renormalize, routed_scaling_factor, scoring
):
    def first(x, count):
        return torch.sort(x, dim=-1, descending=True, stable=True).indices[..., :count]

    values = torch.sigmoid(scores) if scoring == "sigmoid" else torch.softmax(scores, dim=-1)
    compared = values if bias is None else values + bias
    groups = compared.unflatten(-1, (num_groups, -1))
    count = 1 if bias is None else min(2, groups.shape[-1])
    chosen = first(torch.topk(groups, count).values.sum(-1), topk_groups)
    mask = torch.zeros(groups.shape[:2], dtype=torch.bool).scatter(1, chosen, True)
    ids = first(groups.masked_fill(~mask[..., None], -torch.inf).flatten(1), k)
    weights = torch.gather(values, 1, ids)
    if renormalize:
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
    return weights * routed_scaling_factor, ids


def eager(
    torch, scores, bias, k, num_groups, topk_groups, renormalize, routed_scaling_factor, scoring
):
    # Of equal scores, any expert is right: ids are computed and not compared.
    scores = scores.float()
    values = scores.sigmoid() if scoring == "sigmoid" else scores.softmax(-1)
    groups = (values if bias is None else values + bias).unflatten(-1, (num_groups, -1))
    count = 1 if bias is None else min(2, groups.shape[-1])
    chosen = groups.topk(count).values.sum(-1).topk(topk_groups, sorted=False).indices
    others = torch.ones(groups.shape[:2], dtype=torch.bool, device=groups.device)
    others = others.scatter_(1, chosen, False)
    ids = groups.masked_fill(others[..., None], -torch.inf).flatten(1).topk(k).indices
    weights = values.gather(1, ids)
    if renormalize:
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
    ids.int()
    return weights * routed_scaling_factor, None


def fused(jax, scores, bias, k, num_groups, topk_groups, renormalize, routed_scaling_factor):
    # With sigmoids and a bias, as in the workload.
    xp, top = jax.numpy, jax.lax.top_k
    values = jax.nn.sigmoid(scores.astype("float32"))
    compared = values + bias
    groups = compared.reshape(len(scores), num_groups, -1)
    chosen = top(top(groups, 2)[0].sum(-1), topk_groups)[1]
    known = jax.nn.one_hot(chosen, num_groups).sum(1)[..., None] > 0
    ids = top(xp.where(known, groups, -xp.inf).reshape(compared.shape), k)[1]
    weights = xp.take_along_axis(values, ids, 1)
    if renormalize:
        weights = weights / (weights.sum(-1, keepdims=True) + 1e-20)
    return weights * routed_scaling_factor, None


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
