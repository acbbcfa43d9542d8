"""The reference, an independent formula, and weights of the size that they have in models."""

import numpy as np


def gated(first, activation, gate_first, alpha, beta, limit):
    gate, value = np.split(first, 2, axis=-1)
    if not gate_first:
        gate, value = value, gate
    gate, value = np.minimum(gate, limit), np.clip(value, -limit, limit)
    if activation == "silu":
        gate = gate / (1 + np.exp(-alpha * gate))
    else:
        gate = 0.5 * gate * (1 + np.tanh((2 / np.pi) ** 0.5 * (gate + 0.044715 * gate**3)))
    return gate * (value + beta)


def of_expert(values, e, default):
    return default if values is None else values[e]


def reference(
    x, w1, w2, topk_weights, topk_ids, w1_bias, w2_bias,
    swiglu_alpha, swiglu_beta, swiglu_limit, activation, gate_first,
):  # fmt: skip
    y = np.zeros(x.shape, x.dtype)
    for e in range(len(w1)):
        tokens, slots = np.nonzero(topk_ids == e)
        alpha, beta = of_expert(swiglu_alpha, e, 1), of_expert(swiglu_beta, e, 0)
        first = x[tokens] @ w1[e].T + of_expert(w1_bias, e, 0)
        limit = of_expert(swiglu_limit, e, np.inf)
        hidden = gated(first, activation, gate_first, alpha, beta, limit)
        made = hidden @ w2[e].T + of_expert(w2_bias, e, 0)
        np.add.at(y, tokens, topk_weights[tokens, slots, None] * made)
    return y


def independent(
    torch, x, w1, w2, topk_weights, topk_ids, w1_bias, w2_bias,
    swiglu_alpha, swiglu_beta, swiglu_limit, activation, gate_first,
):  # fmt: skip
    functional = torch.nn.functional
    known = (topk_ids >= 0) & (topk_ids < len(w1))
    if not known.any():
        return torch.zeros_like(x)
    ids = torch.where(known, topk_ids, 0).long()
    first = torch.einsum("nd,nsid->nsi", x, w1[ids])
    if w1_bias is not None:
        first = first + w1_bias[ids]
    gate, value = first.unflatten(-1, (2, -1)).unbind(-2)[:: 1 if gate_first else -1]
    if swiglu_limit is not None:
        limit = swiglu_limit[ids][..., None]
        gate, value = torch.minimum(gate, limit), torch.clamp(value, -limit, limit)
    if activation != "silu":
        gate = functional.gelu(gate, approximate="tanh")
    elif swiglu_alpha is None:
        gate = functional.silu(gate)
    else:
        gate = gate * torch.sigmoid(swiglu_alpha[ids][..., None] * gate)
    if swiglu_beta is not None:
        value = value + swiglu_beta[ids][..., None]
    made = torch.einsum("nsi,nsdi->nsd", gate * value, w2[ids])
    if w2_bias is not None:
        made = made + w2_bias[ids]
    weights = torch.where(known, topk_weights, 0)
    return torch.einsum("ns,nsd->nd", weights, made)


def samples(rng, sizes):
    n, d, i, e, k = (sizes[name] for name in ("N", "D", "I", "E", "k"))
    return {
        "w1": rng.standard_normal((e, 2 * i, d)) / max(1, d) ** 0.5,
        "w2": rng.standard_normal((e, d, i)) / max(1, i) ** 0.5,
        "topk_ids": rng.integers(-1, e + 1, (n, k)),
    }


def eager(torch, x, w1, w2, topk_weights, topk_ids, activation):
    experts, k, functional = len(w1), topk_ids.shape[1], torch.nn.functional
    items = topk_ids.flatten()
    items = items.where((items >= 0) & (items < experts), experts)
    items, order = torch.sort(items)
    ends = torch.arange(1, experts + 1, dtype=torch.int32, device=x.device)
    ends = torch.searchsorted(items, ends, out_int32=True)
    rows = order // k
    gate, value = torch._grouped_mm(x[rows], w1.mT, offs=ends).chunk(2, dim=-1)
    gate = (
        functional.silu(gate) if activation == "silu" else functional.gelu(gate, approximate="tanh")
    )
    made = torch._grouped_mm(gate * value, w2.mT, offs=ends)
    weights = topk_weights.flatten()[order][:, None]
    made = torch.where((items < experts)[:, None], made * weights, 0)  # others are not written
    return torch.zeros_like(x, dtype=torch.float32).index_add_(0, rows, made).to(x.dtype)


def server(vllm_kernels, x, w1, w2, topk_weights, topk_ids):
    return vllm_kernels.experts(x, w1, w2, topk_weights, topk_ids)


def peers(framework):
    return {"torch": {"torch": eager, "vllm": server}}.get(framework)
