"""The reference, an independent formula, and states that do not grow."""

import numpy as np


def reference(q, k, v, g, beta, state, cu_seqlens, state_indices, scale, use_qk_l2norm):
    if use_qk_l2norm:
        q, k = (x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) + 1e-6) for x in (q, k))
    group = v.shape[1] // k.shape[1]
    o, state = np.zeros(v.shape), state.copy()
    for b, slot in enumerate(state_indices):
        for h in range(v.shape[1]):
            s = np.zeros(state.shape[2:]) if slot < 0 else state[slot, h].copy()
            for t in range(cu_seqlens[b], cu_seqlens[b + 1]):
                s = s * np.exp(g[t, h])
                key = k[t, h // group]
                s = s + np.outer(beta[t, h] * (v[t, h] - s @ key), key)
                o[t, h] = scale * (s @ q[t, h // group])
            if slot >= 0:
                state[slot, h] = s
    return o, state


def independent(torch, q, k, v, g, beta, state, cu_seqlens, state_indices, scale, use_qk_l2norm):
    group = v.shape[1] // k.shape[1]
    q, k = (x.repeat_interleave(group, 1) for x in (q, k))
    if use_qk_l2norm:
        q, k = (x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6) for x in (q, k))
    o, state = torch.zeros_like(v), state.clone()
    for b in range(len(state_indices)):
        slot = int(state_indices[b])
        s = v.new_zeros(v.shape[1], v.shape[2], k.shape[2]) if slot < 0 else state[slot]
        for t in range(int(cu_seqlens[b]), int(cu_seqlens[b + 1])):
            old = s * torch.exp(g[t])[:, None]
            recalled = torch.einsum("hvk,hk->hv", old, k[t])
            new = beta[t][:, None] * v[t] + (1 - beta[t])[:, None] * recalled
            s = old + torch.einsum("hv,hk->hvk", new - recalled, k[t])
            o[t] = scale * torch.einsum("hvk,hk->hv", s, q[t])
        if slot >= 0:
            state[slot] = s
    return o, state


def samples(rng, sizes):
    cuts = np.sort(rng.integers(0, sizes["N"] + 1, sizes["B"] + 1))
    if rng.random() < 0.75 and sizes["B"] > 0:
        cuts[0], cuts[-1] = 0, sizes["N"]
    slots = rng.permutation(max(sizes["P"], sizes["B"]))[: sizes["B"]]
    skipped = (slots >= sizes["P"]) | (rng.random(sizes["B"]) < 0.2)
    keys = rng.standard_normal((sizes["N"], sizes["Hk"], sizes["K"]))
    keys /= np.sqrt(np.sum(keys * keys, axis=-1, keepdims=True) + 1e-6)
    g = -rng.random((sizes["N"], sizes["Hv"], sizes["Kg"]))
    return {"k": keys, "g": g, "cu_seqlens": cuts, "state_indices": np.where(skipped, -1, slots)}


def eager(torch, q, k, v, g, beta, state, cu_seqlens, state_indices, scale, use_qk_l2norm):
    group, dtype = v.shape[1] // k.shape[1], state.dtype
    q, k = (x.repeat_interleave(group, 1).to(dtype) for x in (q, k))
    if use_qk_l2norm:
        q, k = (x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6) for x in (q, k))
    o, decay, cuts = torch.zeros_like(v), g.to(dtype).exp(), cu_seqlens.tolist()
    for slot, begin, end in zip(state_indices.tolist(), cuts[:-1], cuts[1:], strict=True):
        s = torch.zeros_like(state[0]) if slot < 0 else state[slot]
        for t in range(begin, end):
            s *= decay[t][:, None]
            change = (v[t] - torch.einsum("hvk,hk->hv", s, k[t])) * beta[t][:, None]
            s += change[..., None] * k[t][:, None]
            o[t] = torch.einsum("hvk,hk->hv", s, q[t]) * scale
    return o, state


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
