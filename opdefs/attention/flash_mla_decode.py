"""An independent formula."""


def independent(torch, q, kv_nope, kv_rope, kv_scale, kv_indptr, sm_scale):
    plain = kv_nope.unflatten(-1, (7, 64)) * kv_scale[..., None]
    kv = torch.cat([plain.flatten(-2), kv_rope], dim=-1)
    o, lse = torch.zeros_like(q), torch.full(q.shape[:2], -torch.inf, dtype=q.dtype)
    for i, rows in enumerate(torch.tensor_split(kv, kv_indptr.tolist())[1:-1]):
        if len(rows):
            attention = torch.nn.functional.scaled_dot_product_attention
            o[i] = attention(q[i], rows, rows, scale=sm_scale)
            lse[i] = torch.logsumexp(sm_scale * q[i] @ rows.T, dim=-1)
    return o, lse


def eager(torch, q, kv_nope, kv_rope, kv_scale, kv_indptr, sm_scale):
    plain = (kv_nope.float().unflatten(1, (7, 64)) * kv_scale[..., None]).to(q.dtype)
    kv = torch.cat([plain.flatten(1), kv_rope], dim=1)
    ends, results = kv_indptr.tolist(), []
    for rows, begin, end in zip(q, ends, ends[1:]):
        scores = (rows @ kv[begin:end].T).float() * sm_scale
        results.append(torch.softmax(scores, dim=-1).to(q.dtype) @ kv[begin:end])
    return torch.stack(results), None


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
