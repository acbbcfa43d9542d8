"""The reference and an independent formula."""

import numpy as np


def reference(
    q, k_cache, v_cache, block_tables, seq_lens, k_scale, v_scale, sinks,
    q_len, layout, sm_scale, window_left, soft_cap,
):  # fmt: skip
    group = q.shape[1] // k_cache.shape[2 if layout == "NHD" else 1]
    if layout == "HND":
        k_cache, v_cache = k_cache.swapaxes(1, 2), v_cache.swapaxes(1, 2)
    k_cache = k_cache if k_scale is None else k_cache * k_scale
    v_cache = v_cache if v_scale is None else v_cache * v_scale
    o, lse = np.zeros((*q.shape[:2], v_cache.shape[3])), np.full(q.shape[:2], -np.inf)
    for n in range(len(q)):
        b, i = divmod(n, q_len)
        count = max(0, seq_lens[b] - (q_len - 1 - i))
        pages = block_tables[b, : -(-count // max(k_cache.shape[1], 1))]
        first = 0 if window_left is None else max(0, count - 1 - window_left)
        k, v = (
            x[pages].reshape(len(pages) * x.shape[1], *x.shape[2:])[first:count]
            for x in (k_cache, v_cache)
        )
        for h in range(q.shape[1]):
            s = k[:, h // group] @ q[n, h] * sm_scale
            s = s if soft_cap is None else soft_cap * np.tanh(s / soft_cap)
            sink = -np.inf if sinks is None else sinks[h]
            largest = np.max(s, initial=sink)
            if largest == -np.inf:
                continue
            p = np.exp(s - largest)
            total = np.sum(p) + np.exp(sink - largest)
            o[n, h] = p @ v[:, h // group] / total
            lse[n, h] = largest + np.log(total)
    return o, lse


def independent(
    torch, q, k_cache, v_cache, block_tables, seq_lens, k_scale, v_scale, sinks,
    q_len, layout, sm_scale, window_left, soft_cap,
):  # fmt: skip
    caches = [x if layout == "NHD" else x.transpose(1, 2) for x in (k_cache, v_cache)]
    caches = [x if n is None else x * n for x, n in zip(caches, (k_scale, v_scale), strict=True)]
    o = q.new_zeros(*q.shape[:2], v_cache.shape[3])
    sink = q.new_full(q.shape[1:2], -torch.inf) if sinks is None else sinks
    lse = sink.repeat(len(q), 1)
    for n in range(len(q)):
        count = int(seq_lens[n // q_len]) + n % q_len - q_len + 1
        pages = block_tables[n // q_len]
        if count <= 0:
            continue
        k, v = (x[pages.long()].flatten(0, 1)[:count].transpose(0, 1) for x in caches)
        k, v = (x.repeat_interleave(q.shape[1] // len(x), 0) for x in (k, v))
        scores = (q[n, :, None] @ k.transpose(1, 2))[:, 0] * sm_scale
        if soft_cap is not None:
            scores = soft_cap * torch.tanh(scores / soft_cap)
        seen = torch.arange(count) >= count - 1 - (count if window_left is None else window_left)
        scores = torch.where(seen, scores, -torch.inf)
        scores = torch.cat([scores, sink[:, None]], -1)
        lse[n] = torch.logsumexp(scores, -1)
        if soft_cap is None and sinks is None:
            attention = torch.nn.functional.scaled_dot_product_attention
            o[n] = attention(q[n, :, None], k, v, attn_mask=seen[None], scale=sm_scale)[:, 0]
        else:
            o[n] = (torch.softmax(scores, -1)[:, None, :-1] @ v)[:, 0]
    return o, lse


def eager(torch, q, k_cache, v_cache, block_tables, seq_lens, layout, sm_scale):
    pages = (x[block_tables] for x in (k_cache, v_cache))
    k, v = (
        (x if layout == "NHD" else x.transpose(2, 3)).flatten(1, 2).transpose(1, 2) for x in pages
    )
    seen = torch.arange(k.shape[2], device=q.device) < seq_lens[:, None]
    # The heads that share keys become the rows of one head: no kernel has both a mask and groups.
    heads = q.unflatten(1, (k.shape[1], -1))
    attention = torch.nn.functional.scaled_dot_product_attention
    o = attention(heads, k, v, attn_mask=seen[:, None, None], scale=sm_scale)
    return torch.where(seen[:, :1, None], o.flatten(1, 2), 0), None


def server(vllm_kernels, q, k_cache, v_cache, block_tables, seq_lens):
    return vllm_kernels.paged(q, k_cache, v_cache, block_tables, seq_lens), None


def fused(jax, q, k_cache, v_cache, block_tables, seq_lens, sm_scale):
    # With the layout NHD, as in the workload.
    k, v = (x[block_tables].reshape(len(q), -1, *x.shape[2:]) for x in (k_cache, v_cache))
    attention = jax.nn.dot_product_attention
    o = attention(q[:, None], k, v, scale=sm_scale, key_value_seq_lengths=seq_lens)[:, 0]
    return jax.numpy.where(seq_lens[:, None, None] > 0, o, 0), None


def peers(framework):
    return {"torch": {"torch": eager, "vllm": server}, "jax": {"jax.jit": fused}}.get(framework)
