"""The reference."""

import numpy as np


def reference(q, k, v, cu_q, cu_k, causal):
    o, lse = np.zeros(q.shape), np.full(q.shape[:2], -np.inf)
    for b in range(len(cu_q) - 1):
        for n, h in np.ndindex(cu_q[b + 1] - cu_q[b], q.shape[1]):
            last = cu_k[b + 1] - (cu_q[b + 1] - cu_q[b] - n - 1 if causal else 0)
            seen, i = slice(cu_k[b], max(cu_k[b], last)), n + cu_q[b]
            s = k[seen, h] @ q[i, h] * max(q.shape[2], 1) ** -0.5
            if not np.max(s, initial=-np.inf) == -np.inf:
                p = np.exp(s - np.max(s))
                o[i, h] = p @ v[seen, h] / np.sum(p)
                lse[i, h] = np.max(s) + np.log(np.sum(p))
    return o, lse
