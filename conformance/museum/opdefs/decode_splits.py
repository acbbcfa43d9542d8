"""The reference."""

import numpy as np


def reference(q, k, v, lengths, sinks, window):
    o, lse = np.zeros((*q.shape[:2], v.shape[3])), np.full(q.shape[:2], -np.inf)
    if sinks is not None:
        lse[:] = sinks
    for b, h in np.ndindex(lse.shape):
        seen = slice(0 if window is None else max(0, lengths[b] - window), lengths[b])
        s = k[b, seen, h] @ q[b, h] / max(q.shape[2], 1) ** 0.5
        if len(s) == 0:
            continue
        s = s if sinks is None else np.append(s, sinks[h])
        if not np.max(s) == -np.inf:
            p = np.exp(s - np.max(s))
            values = v[b, seen, h]
            o[b, h] = p[: len(values)] @ values / np.sum(p)
            lse[b, h] = np.max(s) + np.log(np.sum(p))
    return o, lse
