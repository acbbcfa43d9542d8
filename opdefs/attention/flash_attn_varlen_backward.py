"""The reference, an independent formula by autograd, and sequences that mostly fill the arrays."""

import numpy as np


def reference(
    grad_o, grad_lse, q, k, v, cu_seqlens_q, cu_seqlens_k, o, lse, sinks,
    causal, sm_scale, window_left, soft_cap,
):  # fmt: skip
    group = q.shape[1] // k.shape[1]
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    grad_sinks = None if sinks is None else np.zeros(sinks.shape)
    for b in range(len(cu_seqlens_q) - 1):
        rows = slice(cu_seqlens_q[b], cu_seqlens_q[b + 1])
        keys = slice(cu_seqlens_k[b], cu_seqlens_k[b + 1])
        places = np.arange(rows.start, rows.stop) - rows.stop + keys.stop
        for i, place in zip(range(rows.start, rows.stop), places, strict=True):
            first = keys.start if window_left is None else max(keys.start, place - window_left)
            last = place + 1 if causal else keys.stop
            seen = slice(first, max(first, last))
            for h in range(q.shape[1]):
                if lse[i, h] == -np.inf:
                    continue
                delta = grad_o[i, h] @ o[i, h] - grad_lse[i, h]
                if sinks is not None:
                    grad_sinks[h] -= np.exp(sinks[h] - lse[i, h]) * delta
                s, slope = k[seen, h // group] @ q[i, h] * sm_scale, 1
                if soft_cap is not None:
                    s = soft_cap * np.tanh(s / soft_cap)
                    slope = 1 - (s / soft_cap) ** 2
                p = np.exp(s - lse[i, h])
                grad_v[seen, h // group] += p[:, None] * grad_o[i, h]
                grad_s = p * (v[seen, h // group] @ grad_o[i, h] - delta) * slope * sm_scale
                grad_q[i, h] = grad_s @ k[seen, h // group]
                grad_k[seen, h // group] += grad_s[:, None] * q[i, h]
    return grad_q, grad_k, grad_v, grad_sinks


def independent(
    torch, grad_o, grad_lse, q, k, v, cu_seqlens_q, cu_seqlens_k, o, lse, sinks,
    causal, sm_scale, window_left, soft_cap,
):  # fmt: skip
    group = q.shape[1] // k.shape[1]
    inputs = [x.detach().requires_grad_() for x in (q, k, v, *([] if sinks is None else [sinks]))]
    total = sum(x.sum() for x in inputs) * 0
    for b in range(len(cu_seqlens_q) - 1):
        rows = slice(int(cu_seqlens_q[b]), int(cu_seqlens_q[b + 1]))
        keys = slice(int(cu_seqlens_k[b]), int(cu_seqlens_k[b + 1]))
        q_h, k_h, v_h = (
            x.transpose(0, 1).repeat_interleave(n, 0)
            for x, n in (
                (inputs[0][rows], 1), (inputs[1][keys], group), (inputs[2][keys], group),
            )
        )  # fmt: skip
        less = torch.arange(keys.stop - keys.start)[None] - keys.stop + keys.start
        less = less - torch.arange(rows.stop - rows.start)[:, None] + rows.stop - rows.start
        seen = less <= 0 if causal else torch.ones_like(less, dtype=torch.bool)
        seen = seen if window_left is None else seen & (less >= -window_left)
        scores = q_h @ k_h.transpose(1, 2) * sm_scale
        if soft_cap is not None:
            scores = soft_cap * torch.tanh(scores / soft_cap)
        ends = lse[rows].T[..., None]
        p = torch.where(seen & (ends > -torch.inf), torch.exp(scores - ends), 0).detach()
        grad = grad_o[rows].transpose(0, 1)
        products = grad @ v_h.transpose(1, 2)
        delta = (grad * o[rows].transpose(0, 1)).sum(-1) - grad_lse[rows].T
        total = total + (p * products).sum()
        total = total + (p * (products.detach() - delta[..., None]) * scores).sum()
        if sinks is not None:
            of_sink = torch.where(
                ends[..., 0] > -torch.inf, torch.exp(sinks[:, None] - ends[..., 0]), 0
            )
            total = total - (of_sink * delta * inputs[3][:, None]).sum()
    found = torch.autograd.grad(total, inputs)
    return (*found, None) if sinks is None else found


def samples(rng, sizes):
    whole = rng.random() < 0.75

    def offsets(total):
        cuts = np.sort(rng.integers(0, total + 1, sizes["B"] + 1))
        if whole and sizes["B"] > 0:
            cuts[0], cuts[-1] = 0, total
        return cuts

    return {"cu_seqlens_q": offsets(sizes["Tq"]), "cu_seqlens_k": offsets(sizes["Tk"])}


def eager(torch, grad_o, grad_lse, q, k, v, o, lse, causal, sm_scale):
    # Of one sequence that fills the arrays, as the workload has it.
    group = q.shape[1] // k.shape[1]
    q_h, grad_h = (x.unflatten(1, (-1, group)).permute(1, 2, 0, 3) for x in (q, grad_o))
    k_h, v_h = (x.transpose(0, 1)[:, None].expand(-1, group, -1, -1) for x in (k, v))
    deltas = ((grad_o * o).sum(-1, dtype=torch.float32) - grad_lse).T.unflatten(0, (-1, group))
    p = torch.exp((q_h @ k_h.mT).float() * sm_scale - lse.T.unflatten(0, (-1, group))[..., None])
    p = p.tril(len(k) - len(q)) if causal else p
    grad_s = (p * ((grad_h @ v_h.mT) - deltas[..., None]) * sm_scale).to(q.dtype)
    grad_q = (grad_s @ k_h).permute(2, 0, 1, 3).flatten(1, 2)
    grad_k, grad_v = (
        (x.mT @ y).sum(1).transpose(0, 1) for x, y in ((grad_s, q_h), (p.to(q.dtype), grad_h))
    )
    return grad_q, grad_k, grad_v, None


def flash(torch, grad_o, grad_lse, q, k, v, cu_seqlens_q, cu_seqlens_k, o, lse, causal, sm_scale):
    # What autograd calls for scaled_dot_product_attention on a GPU. It takes no grad_lse, which only adds to the product of
    # grad_o and o: so does this change of o.
    wide = grad_o.float()
    share = grad_lse[..., None] / (wide * wide).sum(-1, keepdim=True)
    o = torch.addcmul(o.float(), wide, share, value=-1).to(o.dtype)
    state = torch.zeros(2, dtype=torch.uint64, device=q.device)
    grads = torch.ops.aten._flash_attention_backward(
        grad_o, q, k, v, o, lse.T.contiguous(), cu_seqlens_q, cu_seqlens_k, len(q), len(k),
        0.0, causal, state, state[:0], scale=sm_scale,
    )  # fmt: skip
    return *grads[:3], None


def peers(framework):
    return {"torch": {"torch": eager, "torch, flash": flash}}.get(framework)
