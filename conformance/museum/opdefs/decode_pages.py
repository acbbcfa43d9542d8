"""The reference."""

import numpy as np


def reference(q, k_cache, v_cache, table, lengths):
    o, lse = np.zeros((*q.shape[:2], v_cache.shape[3])), np.full(q.shape[:2], -np.inf)
    for b, h in np.ndindex(lse.shape):
        k, v = (
            x[table[b], :, h * x.shape[2] // q.shape[1]].reshape(
                table.shape[1] * x.shape[1], x.shape[3]
            )[: lengths[b]]
            for x in (k_cache, v_cache)
        )
        s = k @ q[b, h] / max(q.shape[2], 1) ** 0.5
        if not np.max(s, initial=-np.inf) == -np.inf:
            p = np.exp(s - np.max(s))
            o[b, h] = p @ v / np.sum(p)
            lse[b, h] = np.max(s) + np.log(np.sum(p))
    return o, lse
