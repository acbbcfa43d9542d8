"""The reference, a second formula, and probabilities of which some are alike and some are zero."""

import numpy as np


def reference(probs, top_k, top_p, min_p):
    kept = np.where(probs > 0, probs, 0)
    for b, row in enumerate(kept if probs.size else ()):
        ordered, keep = np.sort(row)[::-1], np.ones(len(row), dtype=bool)
        if top_k is not None and 0 < top_k[b] <= len(row):
            keep &= row >= ordered[int(top_k[b]) - 1]
        if top_p is not None and top_p[b] < 1:
            sums = np.cumsum(np.sort(row[keep])[::-1])
            reached = np.nonzero(sums >= top_p[b] * sums[-1])[0]
            keep &= row >= ordered[reached[0] if len(reached) else -1]
        if min_p is not None:
            keep &= row >= min_p[b] * ordered[0]
        kept[b] = np.where(keep, row, 0)
    sums = kept.sum(axis=1, keepdims=True)
    return kept / np.where(sums > 0, sums, 1)


def independent(torch, probs, top_k, top_p, min_p):
    rows, places = torch.sort(torch.nan_to_num(probs, 0, torch.inf), dim=-1, descending=True)
    # Equal probabilities have the same number of larger ones, and the same sum of them.
    above = torch.searchsorted(-rows, -rows)
    if top_k is not None:
        rows = rows.masked_fill((above >= top_k[:, None]) & (top_k > 0)[:, None], 0)
    kept = rows
    if top_p is not None:
        larger = torch.nn.functional.pad(rows.cumsum(-1), (1, 0))
        goal = top_p[:, None] * larger[:, -1:]
        out = (larger.gather(-1, above) >= goal) & (above > 0) & (top_p < 1)[:, None]
        kept = kept.masked_fill(out, 0)
    if min_p is not None:
        kept = kept.masked_fill(~(rows >= min_p[:, None] * rows[:, :1]), 0)
    sums = kept.sum(-1, keepdim=True)
    shares = kept / torch.where(sums > 0, sums, 1)
    return torch.zeros_like(shares).scatter(-1, places, shares)


def samples(rng, sizes):
    logits = 2 * rng.standard_normal((sizes["B"], sizes["V"]))
    probs = np.exp(np.round(logits, rng.integers(0, 4))) * (rng.random(logits.shape) < 0.9)
    return {
        "probs": probs / np.maximum(probs.sum(axis=1, keepdims=True), 1e-9),
        "top_k": rng.integers(-1, sizes["V"] + 2, sizes["B"]),
        "top_p": rng.uniform(-0.1, 1.1, sizes["B"]),
        "min_p": rng.uniform(0, 1, sizes["B"]) ** 3,
    }


def eager(torch, probs, top_k, top_p, min_p):
    rows, places = torch.sort(probs, dim=-1, descending=True)
    if top_k is not None:
        rank = torch.arange(rows.shape[-1], device=rows.device)
        rows = rows.masked_fill((rank >= top_k[:, None]) & (top_k > 0)[:, None], 0)
    sums, kept = rows.cumsum(-1), rows
    if top_p is not None:
        kept = kept.masked_fill(sums - rows > top_p[:, None] * sums[:, -1:], 0)
    if min_p is not None:
        kept = kept.masked_fill(rows < min_p[:, None] * rows[:, :1], 0)
    # Computed and not compared: of probabilities that equal the last one, it keeps some.
    (kept / kept.sum(-1, keepdim=True)).gather(-1, places.argsort(-1))
    return (None,)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
