"""The reference, an independent formula, and sequences that mostly fill the arrays."""

import numpy as np


def reference(q, k, v, cu_seqlens_q, cu_seqlens_k, sinks, causal, sm_scale, window_left, soft_cap):
    group = q.shape[1] // k.shape[1]
    o, lse = np.zeros((*q.shape[:2], v.shape[2])), np.full(q.shape[:2], -np.inf)
    for b in range(len(cu_seqlens_q) - 1):
        rows = slice(cu_seqlens_q[b], cu_seqlens_q[b + 1])
        keys = slice(cu_seqlens_k[b], cu_seqlens_k[b + 1])
        places = np.arange(rows.start, rows.stop) - rows.stop + keys.stop
        for i, place in zip(range(rows.start, rows.stop), places, strict=True):
            first = keys.start if window_left is None else max(keys.start, place - window_left)
            seen = slice(first, place + 1 if causal else keys.stop)
            if seen.stop <= seen.start and sinks is None:
                continue
            seen = slice(seen.start, max(seen.start, seen.stop))
            for h in range(q.shape[1]):
                s = k[seen, h // group] @ q[i, h] * sm_scale
                s = s if soft_cap is None else soft_cap * np.tanh(s / soft_cap)
                sink = -np.inf if sinks is None else sinks[h]
                largest = np.max(s, initial=sink)
                if largest == -np.inf:
                    continue
                p = np.exp(s - largest)
                total = np.sum(p) + np.exp(sink - largest)
                o[i, h] = p @ v[seen, h // group] / total
                lse[i, h] = largest + np.log(total)
    return o, lse


def mask(torch, rows, keys, causal, window_left):
    """Return which keys each query sees."""
    less = torch.arange(keys)[None] - (torch.arange(rows)[:, None] + keys - rows)
    seen = less <= 0 if causal else torch.ones_like(less, dtype=torch.bool)
    return seen if window_left is None else seen & (less >= -window_left)


def independent(
    torch, q, k, v, cu_seqlens_q, cu_seqlens_k, sinks, causal, sm_scale, window_left, soft_cap
):
    group = q.shape[1] // k.shape[1]
    o, lse = q.new_zeros(*q.shape[:2], v.shape[2]), q.new_full(q.shape[:2], -torch.inf)
    for b in range(len(cu_seqlens_q) - 1):
        rows = slice(int(cu_seqlens_q[b]), int(cu_seqlens_q[b + 1]))
        keys = slice(int(cu_seqlens_k[b]), int(cu_seqlens_k[b + 1]))
        heads = [
            x.transpose(0, 1).repeat_interleave(n, 0)
            for x, n in ((q[rows], 1), (k[keys], group), (v[keys], group))
        ]
        seen = mask(torch, rows.stop - rows.start, keys.stop - keys.start, causal, window_left)
        scores = heads[0] @ heads[1].transpose(1, 2) * sm_scale
        if soft_cap is not None:
            scores = soft_cap * torch.tanh(scores / soft_cap)
        scores = torch.where(seen, scores, -torch.inf)
        if sinks is not None:
            scores = torch.cat([scores, sinks[:, None, None].expand(-1, len(q[rows]), 1)], -1)
        lse[rows] = torch.logsumexp(scores, -1).T
        if sinks is None and soft_cap is None:
            attention = torch.nn.functional.scaled_dot_product_attention
            found = attention(*heads, attn_mask=seen, scale=sm_scale)
            o[rows] = torch.where(seen.any(-1)[:, None], found, 0).transpose(0, 1)
        else:
            p = torch.nan_to_num(torch.softmax(scores, -1))[..., : seen.shape[1]]
            o[rows] = (p @ heads[2]).transpose(0, 1)
    return o, lse


def samples(rng, sizes):
    whole = rng.random() < 0.75

    def offsets(total):
        cuts = np.sort(rng.integers(0, total + 1, sizes["B"] + 1))
        if whole and sizes["B"] > 0:
            cuts[0], cuts[-1] = 0, total
        return cuts

    return {"cu_seqlens_q": offsets(sizes["Tq"]), "cu_seqlens_k": offsets(sizes["Tk"])}


def one_sequence(torch, q, k, v, causal, sm_scale):
    # Queries and keys of one sequence that fills the arrays, as the workload has it.
    heads = (x.transpose(0, 1)[None] for x in (q, k, v))
    attention = torch.nn.functional.scaled_dot_product_attention
    o = attention(*heads, is_causal=causal, scale=sm_scale, enable_gqa=True)
    return o[0].transpose(0, 1), None


def kernel(flashinfer, q, k, v, causal, sm_scale):
    attention = flashinfer.single_prefill_with_kv_cache
    return attention(q, k, v, causal=causal, sm_scale=sm_scale), None


def server(vllm_kernels, q, k, v):
    return vllm_kernels.prefill(q, k, v), None


def fused(jax, q, k, v, causal, sm_scale):
    heads = (x[None] for x in (q, k, v))
    o = jax.nn.dot_product_attention(*heads, is_causal=causal, scale=sm_scale)
    return o[0], None


def peers(framework):
    torch = {"torch": one_sequence, "flashinfer": kernel, "vllm": server}
    jax = {"jax.jit": fused}
    return {"torch": torch, "jax": jax}.get(framework)
