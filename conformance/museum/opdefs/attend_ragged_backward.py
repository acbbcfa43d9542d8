"""The reference."""

import numpy as np


def reference(grad_o, q, k, v, cu_q, cu_k, o, lse, causal):
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    scale = max(q.shape[2], 1) ** -0.5
    for b in range(len(cu_q) - 1):
        for n, h in np.ndindex(cu_q[b + 1] - cu_q[b], q.shape[1]):
            last = cu_k[b + 1] - (cu_q[b + 1] - cu_q[b] - n - 1 if causal else 0)
            seen, i = slice(cu_k[b], max(cu_k[b], last)), n + cu_q[b]
            if lse[i, h] == -np.inf:
                continue
            p = np.exp(k[seen, h] @ q[i, h] * scale - lse[i, h])
            s = p * (v[seen, h] @ grad_o[i, h] - grad_o[i, h] @ o[i, h]) * scale
            grad_q[i, h] = s @ k[seen, h]
            grad_k[seen, h] += s[:, None] * q[i, h]
            grad_v[seen, h] += p[:, None] * grad_o[i, h]
    return grad_q, grad_k, grad_v
