"""The reference, an independent formula, and sequences that mostly fill the queries."""

import numpy as np


def reference(
    q_nope, q_pe, ckv_cache, kpe_cache, block_tables, seq_lens, cu_seqlens_q, ckv_scale, kpe_scale,
    sm_scale, causal,
):  # fmt: skip
    ckv_cache = ckv_cache if ckv_scale is None else ckv_cache * ckv_scale
    kpe_cache = kpe_cache if kpe_scale is None else kpe_cache * kpe_scale
    o, lse = np.zeros(q_nope.shape), np.full(q_nope.shape[:2], -np.inf)
    for b in range(len(seq_lens)):
        begin, end = cu_seqlens_q[b], cu_seqlens_q[b + 1]
        for n in range(begin, end):
            count = max(0, seq_lens[b] - (end - 1 - n)) if causal else seq_lens[b]
            pages = block_tables[b, : -(-count // max(ckv_cache.shape[1], 1))]
            ckv, kpe = (
                x[pages].reshape(len(pages) * x.shape[1], x.shape[2])[:count]
                for x in (ckv_cache, kpe_cache)
            )
            s = (q_nope[n] @ ckv.T + q_pe[n] @ kpe.T) * sm_scale
            for h in range(len(s)):
                largest = np.max(s[h], initial=-np.inf)
                if largest == -np.inf:
                    continue
                p = np.exp(s[h] - largest)
                o[n, h] = p @ ckv / np.sum(p)
                lse[n, h] = largest + np.log(np.sum(p))
    return o, lse


def independent(
    torch, q_nope, q_pe, ckv_cache, kpe_cache, block_tables, seq_lens, cu_seqlens_q, ckv_scale,
    kpe_scale, sm_scale, causal,
):  # fmt: skip
    scales = [1 if x is None else x for x in (ckv_scale, kpe_scale)]
    slots = torch.cat([ckv_cache * scales[0], kpe_cache * scales[1]], -1)
    queries = torch.cat([q_nope, q_pe], -1).transpose(0, 1)
    o, lse = torch.zeros_like(q_nope), q_nope.new_full(q_nope.shape[:2], -torch.inf)
    for b, count in enumerate(seq_lens.tolist()):
        rows = slice(int(cu_seqlens_q[b]), int(cu_seqlens_q[b + 1]))
        if count == 0 or rows.start == rows.stop:
            continue
        keys = slots[block_tables[b].long()].flatten(0, 1)[:count]
        places = torch.arange(rows.start - rows.stop, 0)[:, None] + count
        seen = (torch.arange(count) <= places) | (not causal)
        scores = torch.where(seen, queries[:, rows] @ keys.T * sm_scale, -torch.inf)
        lse[rows] = torch.logsumexp(scores, -1).T
        p = torch.where(seen.any(-1)[:, None], torch.softmax(scores, -1), 0)
        o[rows] = (p @ keys[:, : q_nope.shape[2]]).transpose(0, 1)
    return o, lse


def samples(rng, sizes):
    n, b = sizes["N"], sizes["B"]
    if n == b:  # decoding
        return {"cu_seqlens_q": np.arange(b + 1)}
    cuts = np.sort(rng.integers(0, n + 1, b + 1))
    if b > 0 and rng.random() < 0.75:
        cuts[0], cuts[-1] = 0, n
    return {"cu_seqlens_q": cuts}


def eager(torch, q_nope, q_pe, ckv_cache, kpe_cache, block_tables, seq_lens, sm_scale):
    # With one query of each sequence, as in the workload.
    values = ckv_cache[block_tables].flatten(1, 2)
    keys = torch.cat([values, kpe_cache[block_tables].flatten(1, 2)], -1)
    seen = torch.arange(keys.shape[1], device=keys.device) < seq_lens[:, None]
    # The heads become the rows of one head: no kernel has both a mask and groups.
    queries = torch.cat([q_nope, q_pe], -1)
    attention = torch.nn.functional.scaled_dot_product_attention
    heads = (x[:, None] for x in (queries, keys, values))
    o = attention(*heads, attn_mask=seen[:, None, None], scale=sm_scale)[:, 0]
    return torch.where(seen[:, :1, None], o, 0), None


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
