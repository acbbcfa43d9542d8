"""The reference, a second formula, and probabilities of which some are alike and some are zero."""

import numpy as np


def reference(probs, seed, offset, top_k, top_p, min_p):
    ids = np.zeros(len(probs), dtype=np.int64)
    for b, uniform in enumerate(uniforms(seed, offset, len(probs))):
        row = np.where(probs[b] > 0, probs[b], 0)
        ordered, keep = np.sort(row)[::-1], np.ones(len(row), dtype=bool)
        if top_k is not None and 0 < top_k[b] <= len(row):
            keep &= row >= ordered[int(top_k[b]) - 1]
        if top_p is not None and top_p[b] < 1:
            sums = np.cumsum(np.sort(row[keep])[::-1])
            reached = np.nonzero(sums >= top_p[b] * sums[-1])[0]
            keep &= row >= ordered[reached[0] if len(reached) else -1]
        if min_p is not None:
            keep &= row >= min_p[b] * ordered[0]
        ids[b] = draw(np.where(keep, row, 0), uniform)
    return ids


def draw(weights, uniform):
    """Return the first place up to which the sum exceeds a share of the whole one."""
    sums, positive = np.cumsum(weights), np.nonzero(weights > 0)[0]
    found = np.nonzero(sums > uniform * sums[-1])[0]
    return found[0] if len(found) else positive[-1] if len(positive) else -1


def uniforms(seed, offset, count):
    """Return numbers 0, 1, ... of the stream of a seed and an offset: Philox4x32-10."""
    low, places = 2**32 - 1, np.arange(-(-count // 4), dtype=np.uint64)
    key, offset = (int(s) % 2**64 for s in (seed, offset))
    a, b = key & low, key >> 32
    x, y = places & low, places >> 32
    z, w = (np.full_like(places, half) for half in (offset & low, offset >> 32))
    for _ in range(10):
        first, second = 0xD2511F53 * x, 0xCD9E8D57 * z
        x, y, z, w = second >> 32 ^ y ^ a, second & low, first >> 32 ^ w ^ b, first & low
        a, b = (a + 0x9E3779B9) & low, (b + 0xBB67AE85) & low
    return (np.stack([x, y, z, w], axis=-1).reshape(-1)[:count] >> 8) / 2**24


def samples(rng, sizes):
    logits = 2 * rng.standard_normal((sizes["B"], sizes["V"]))
    probs = np.exp(np.round(logits, rng.integers(0, 4))) * (rng.random(logits.shape) < 0.9)
    return {
        "probs": probs / np.maximum(probs.sum(axis=1, keepdims=True), 1e-9),
        "top_k": rng.integers(-1, sizes["V"] + 2, sizes["B"]),
        "top_p": rng.uniform(-0.1, 1.1, sizes["B"]),
        "min_p": rng.uniform(0, 1, sizes["B"]) ** 3,
    }


def independent(probs, seed, offset, top_k, top_p, min_p):
    def left(b):
        row = {i: p for i, p in enumerate(probs[b]) if p > 0}
        if top_k is not None and top_k[b] > 0:
            row = {i: p for i, p in row.items() if sum(q > p for q in row.values()) < top_k[b]}
        if top_p is not None and top_p[b] < 1:
            goal, most = top_p[b] * sum(row.values()), max(row.values(), default=0)
            larger = {p: sum(q for q in row.values() if q > p) for p in row.values()}
            row = {i: p for i, p in row.items() if p == most or larger[p] < goal}
        most = max((p for p in probs[b] if p > 0), default=0)
        return row if min_p is None else {i: p for i, p in row.items() if p >= min_p[b] * most}

    ids = np.full(len(probs), -1)
    for b in range(len(probs)):
        if row := left(b):
            sums = np.cumsum(list(row.values()))
            place = np.searchsorted(sums, uniform(seed, offset, b) * sums[-1], side="right")
            ids[b] = list(row)[place]
    return ids


def uniform(seed, offset, i):
    """Return number i of a stream, in integers of any size."""
    key, offset = (int(s) % 2**64 for s in (seed, offset))
    counter, keys = [i // 4 % 2**32, i // 4 >> 32, offset % 2**32, offset >> 32], [key, key >> 32]
    for _ in range(10):
        high, low = divmod(0xD2511F53 * counter[0], 2**32)
        other_high, other_low = divmod(0xCD9E8D57 * counter[2], 2**32)
        first, second = other_high ^ counter[1] ^ keys[0], high ^ counter[3] ^ keys[1]
        counter = [first % 2**32, other_low, second % 2**32, low]
        keys = [keys[0] + 0x9E3779B9, keys[1] + 0xBB67AE85]
    return counter[i % 4] // 256 / 2**24


def eager(torch, probs, top_k, top_p, min_p):
    rows, ids = torch.sort(probs, dim=-1, descending=True)
    if top_k is not None:
        rank = torch.arange(rows.shape[-1], device=rows.device)
        rows = rows.masked_fill((rank >= top_k[:, None]) & (top_k > 0)[:, None], 0)
    sums, kept = rows.cumsum(-1), rows
    if top_p is not None:
        kept = kept.masked_fill(sums - rows > top_p[:, None] * sums[:, -1:], 0)
    if min_p is not None:
        kept = kept.masked_fill(rows < min_p[:, None] * rows[:, :1], 0)
    # The draw of torch.multinomial, which waits for the device.
    chosen = (kept / torch.empty_like(kept).exponential_()).argmax(-1, keepdim=True)
    ids.gather(-1, chosen)[:, 0].int()
    return (None,)


def peers(framework):
    return {"torch": {"torch, other numbers": eager}}.get(framework)
