"""An independent formula, and targets of which some are ignored."""

import numpy as np


def independent(torch, grad_loss, logits, target, lse, ignore_index, label_smoothing):
    slope = (logits - lse[..., None]).exp()  # of the first part of lse - target * logits
    valid = (target >= 0) & (target < logits.shape[-1])
    hot = torch.nn.functional.one_hot(torch.where(valid, target, 0).long(), logits.shape[-1])
    goal = torch.lerp(hot.to(slope), torch.full_like(slope, 1 / logits.shape[-1]), label_smoothing)
    grad = (grad_loss[..., None] * (slope - goal)).masked_fill(~valid[..., None], torch.nan)
    return grad.masked_fill(target[..., None] == ignore_index, 0)


def samples(rng, sizes):
    target = rng.integers(0, sizes["V"], sizes["*"])
    return {"target": np.where(rng.random(sizes["*"]) < 0.2, sizes["ignore_index"], target)}


def eager(torch, grad_loss, logits, target, lse, ignore_index, label_smoothing):
    grad = torch.exp(logits.float() - lse[..., None]).sub_(label_smoothing / logits.shape[-1])
    hit = target.clamp(min=0)[..., None].long()  # rows to ignore become 0 below
    grad.scatter_add_(-1, hit, torch.full_like(hit, label_smoothing - 1, dtype=grad.dtype))
    factor = grad_loss.masked_fill(target == ignore_index, 0)
    return grad.mul_(factor[..., None]).to(logits.dtype)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
