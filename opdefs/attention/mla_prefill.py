"""The formula, and an independent one."""

import numpy as np


def reference(q, kv, cu_seqlens_q, cu_seqlens_k, sm_scale, kv_lora_rank, causal):
    o, lse = np.zeros((*q.shape[:2], kv_lora_rank)), np.full(q.shape[:2], -np.inf)
    for b in range(len(cu_seqlens_q) - 1):
        queries = range(cu_seqlens_q[b], cu_seqlens_q[b + 1])
        rows = kv[cu_seqlens_k[b] : cu_seqlens_k[b + 1]]
        for t in queries:
            seen = rows[: max(len(rows) - (queries[-1] - t), 0)] if causal else rows
            if len(seen):
                s = q[t] @ seen.T * sm_scale
                m = s.max(axis=1, keepdims=True)
                p = np.exp(s - m)
                o[t] = p @ seen[:, :kv_lora_rank] / p.sum(axis=1, keepdims=True)
                lse[t] = m[:, 0] + np.log(p.sum(axis=1))
    return o, lse


def independent(torch, q, kv, cu_seqlens_q, cu_seqlens_k, sm_scale, kv_lora_rank, causal):
    o = q.new_zeros((*q.shape[:2], kv_lora_rank))
    lse = torch.full(q.shape[:2], -torch.inf, dtype=q.dtype)
    offsets = zip(cu_seqlens_q[:-1], cu_seqlens_q[1:], cu_seqlens_k[:-1], cu_seqlens_k[1:])
    for first, end, first_row, end_row in offsets:
        rows, some = kv[first_row:end_row], q[first:end].transpose(0, 1)
        seen = torch.ones((end - first, end_row - first_row), dtype=torch.bool)
        if causal:
            seen = seen.tril(len(rows) - some.shape[1])
        keys = rows.expand(len(some), -1, -1)
        attention = torch.nn.functional.scaled_dot_product_attention
        found = attention(some, keys, keys[..., :kv_lora_rank], attn_mask=seen, scale=sm_scale)
        o[first:end] = torch.where(seen.any(-1)[:, None], found, 0).transpose(0, 1)
        scores = (some @ rows.T * sm_scale).masked_fill(~seen, -torch.inf)
        lse[first:end] = torch.logsumexp(scores, dim=-1).transpose(0, 1)
    return o, lse


def eager(torch, q, kv, sm_scale, kv_lora_rank, causal):
    # One sequence that fills the arrays, as in the workload.
    scores = torch.nn.functional.linear(q, kv).float() * sm_scale
    if causal:
        hidden = torch.ones(len(q), len(kv), dtype=torch.bool, device=q.device)
        hidden = hidden.triu(1 + len(kv) - len(q))[:, None]
        scores = scores.masked_fill(hidden, -torch.inf)
    return torch.softmax(scores, dim=-1).to(q.dtype) @ kv[:, :kv_lora_rank], None


def attention(torch, q, kv, sm_scale, kv_lora_rank, causal):
    # The same with equal numbers of queries and keys.
    k = kv.expand(1, q.shape[1], -1, -1)
    heads = q.transpose(0, 1)[None], k, k[..., :kv_lora_rank]
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(*heads, is_causal=causal, scale=sm_scale)[0].transpose(0, 1), None


def peers(framework):
    return {"torch": {"torch": eager, "torch, attention": attention}}.get(framework)
