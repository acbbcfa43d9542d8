"""The reference, a second formula, and logits of which some are alike."""

import numpy as np


def reference(logits, top_k):
    numbers = np.where(np.isnan(logits), -np.inf, logits)
    for row, k in zip(numbers, top_k, strict=True):
        if 0 < k < len(row):
            row[row < np.sort(row)[len(row) - int(k)]] = -np.inf
    return numbers


def independent(torch, logits, top_k):
    numbers = torch.nan_to_num(logits, -torch.inf, torch.inf, -torch.inf)
    ordered = numbers.sort(-1).values
    above = ordered.shape[-1] - torch.searchsorted(ordered, numbers, right=True)
    return numbers.masked_fill((above >= top_k[:, None]) & (top_k > 0)[:, None], -torch.inf)


def samples(rng, sizes):
    shape = (sizes["B"], sizes["V"])
    few = np.array([-np.inf, -1, -0.0, 0, 1, 2, np.inf])
    logits = np.where(rng.random(shape) < 0.3, rng.choice(few, shape), rng.standard_normal(shape))
    return {"logits": logits, "top_k": rng.integers(-1, sizes["V"] + 2, sizes["B"])}


def eager(torch, logits, top_k):
    ordered = logits.sort(-1, descending=True).values
    last = ordered.gather(-1, (top_k.long() - 1).clamp(0, logits.shape[-1] - 1)[:, None])
    return logits.masked_fill((logits < last) & (top_k > 0)[:, None], -torch.inf)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
