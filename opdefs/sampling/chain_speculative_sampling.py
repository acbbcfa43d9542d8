"""The reference, a second formula, and probabilities of models that agree about most tokens."""

import numpy as np


def reference(draft_probs, draft_token_ids, target_probs, seed, offset):
    count, steps = draft_token_ids.shape
    ids = np.full((count, steps + 1), -1, dtype=np.int64)
    accepted = np.zeros(count, dtype=np.int64)
    numbers = uniforms(seed, offset, ids.size).reshape(ids.shape)
    for b, tokens in enumerate(draft_token_ids):
        s = 0
        while s < steps:
            draft, target = draft_probs[b, s, tokens[s]], target_probs[b, s, tokens[s]]
            if not numbers[b, s] * draft < target:
                break
            ids[b, s] = tokens[s]
            s += 1
        left = target_probs[b, s]
        if s < steps and np.any(left > draft_probs[b, s]):
            left = left - draft_probs[b, s]
        ids[b, s] = draw(np.where(left > 0, left, 0), numbers[b, steps])
        accepted[b] = s
    return ids, accepted


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
    count, steps, width = sizes["B"], sizes["S"], sizes["V"]
    logits = 2 * rng.standard_normal((count, steps + 1, width))
    near = logits + rng.standard_normal(logits.shape) * rng.choice([0, 0.5, 2])
    target, draft = (np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True) for x in (logits, near))
    return {"draft_probs": draft[:, :steps], "target_probs": target}


def independent(draft_probs, draft_token_ids, target_probs, seed, offset):
    count, steps = draft_token_ids.shape
    ids, accepted = np.full((count, steps + 1), -1), np.zeros(count, dtype=int)
    for b in range(count):
        draft = np.concatenate([draft_probs[b], np.zeros_like(target_probs[b, :1])])
        more = np.maximum(target_probs[b] - draft, 0)
        numbers = [uniform(seed, offset, b * (steps + 1) + s) for s in range(steps + 1)]
        at = np.arange(steps), draft_token_ids[b]
        fine = [u * p < q for u, p, q in zip(numbers, draft[at], target_probs[b][at], strict=False)]
        s = accepted[b] = [*fine, False].index(False)
        ids[b, :s] = draft_token_ids[b, :s]
        sums = np.cumsum(more[s] if more[s].any() else target_probs[b, s])
        if sums[-1] > 0:
            ids[b, s] = np.searchsorted(sums, numbers[-1] * sums[-1], side="right")
    return ids, accepted


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


def eager(torch, draft_probs, draft_token_ids, target_probs):
    count, steps = draft_token_ids.shape
    ids = draft_token_ids[..., None].long()
    draft, target = (
        draft_probs.gather(-1, ids)[..., 0],
        target_probs[:, :-1].gather(-1, ids)[..., 0],
    )
    fine = torch.rand(count, steps, device=ids.device) * draft < target
    accepted = fine.int().cumprod(-1).sum(-1, keepdim=True)
    rows = torch.arange(count, device=ids.device)[:, None]
    left = target_probs[rows, accepted][:, 0]
    drawn = draft_probs[rows, accepted.clamp(max=steps - 1)][:, 0]
    left = torch.where(accepted < steps, (left - drawn).clamp(min=0), left)
    # The draw of torch.multinomial, which waits for the device.
    last = (left / torch.empty_like(left).exponential_()).argmax(-1, keepdim=True)
    tokens = torch.nn.functional.pad(draft_token_ids, (0, 1)).scatter(1, accepted, last.int())
    tokens.masked_fill(torch.arange(steps + 1, device=ids.device) > accepted, -1)
    accepted.int()
    return None, None


def peers(framework):
    return {"torch": {"torch, other numbers": eager}}.get(framework)
