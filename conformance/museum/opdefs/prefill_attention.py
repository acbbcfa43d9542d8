"""The reference."""

import numpy as np


def slope(head, heads):
    power = 2 ** int(np.log2(heads))
    return 2 ** (-8 * (head + 1) / power if head < power else -4 * (2 * (head - power) + 1) / power)


def reference(q, k, v, causal, alibi, sm_scale, window_left, soft_cap):
    o, lse = np.zeros((*q.shape[:2], v.shape[2])), np.full(q.shape[:2], -np.inf)
    for i, h in np.ndindex(lse.shape):
        place, group = i - len(q) + len(k), h * k.shape[1] // q.shape[1]
        first = 0 if window_left is None else max(0, place - window_left)
        seen = slice(first, max(first, place + 1) if causal else len(k))
        s = k[seen, group] @ q[i, h] * sm_scale
        s = s if soft_cap is None else soft_cap * np.tanh(s / soft_cap)
        if alibi:
            s = s + slope(h, q.shape[1]) * (np.arange(len(k))[seen] - place)
        if not np.max(s, initial=-np.inf) == -np.inf:
            p = np.exp(s - np.max(s))
            o[i, h] = p @ v[seen, group] / np.sum(p)
            lse[i, h] = np.max(s) + np.log(np.sum(p))
    return o, lse
