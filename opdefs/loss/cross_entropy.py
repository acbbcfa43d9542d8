"""The reference, an independent formula, and targets of which some are ignored."""

import numpy as np


def reference(logits, target, ignore_index, label_smoothing):
    top = np.max(logits, axis=-1)
    top = np.where(top == -np.inf, 0, top)
    lse = top + np.log(np.sum(np.exp(logits - top[..., None]), axis=-1))
    valid = (target >= 0) & (target < logits.shape[-1])
    own = np.take_along_axis(logits, np.where(valid, target, 0)[..., None], axis=-1)[..., 0]
    loss = lse - (1 - label_smoothing) * own
    if label_smoothing:
        loss = loss - label_smoothing * np.mean(logits, axis=-1)
    return np.where(target == ignore_index, 0, np.where(valid, loss, np.nan)), lse


def independent(torch, logits, target, ignore_index, label_smoothing):
    rows, classes = logits.reshape(-1, logits.shape[-1]), target.reshape(-1).long()
    valid = ((classes >= 0) & (classes < logits.shape[-1])) | (classes == ignore_index)
    loss = torch.nn.functional.cross_entropy(
        rows,
        torch.where(valid, classes, 0),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="none",
    )
    loss[~valid] = torch.nan
    return loss.reshape(target.shape), torch.logsumexp(logits, dim=-1)


def samples(rng, sizes):
    target = rng.integers(0, sizes["V"], sizes["*"])
    return {"target": np.where(rng.random(sizes["*"]) < 0.2, sizes["ignore_index"], target)}


def eager(torch, logits, target, ignore_index, label_smoothing):
    # The cast is part of what users write: losses are computed in float32.
    return torch.nn.functional.cross_entropy(
        logits.float(),
        target,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="none",
    )


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
