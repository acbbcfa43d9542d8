"""The reference, an independent formula, and scales of the size that they have in models."""

import numpy as np


def scaled(w, scale, alpha):
    w = w * np.repeat(scale, w.shape[2] // scale.shape[2], axis=2)
    return w if alpha is None else w * alpha[:, None, None]


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
    x, w1, w2, w1_scale, w2_scale, topk_weights, topk_ids, w1_alpha, w2_alpha,
    w1_bias, w2_bias, swiglu_alpha, swiglu_beta, swiglu_limit, activation, gate_first,
):  # fmt: skip
    w1, w2 = scaled(w1, w1_scale, w1_alpha), scaled(w2, w2_scale, w2_alpha)
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


def widened(torch, w, scale, alpha):
    groups = w.unflatten(2, (scale.shape[2], w.shape[2] // scale.shape[2]))
    matrices = torch.einsum("erck,erc->erck", groups, scale).flatten(2)
    return matrices if alpha is None else torch.einsum("erk,e->erk", matrices, alpha)


def independent(
    torch, x, w1, w2, w1_scale, w2_scale, topk_weights, topk_ids, w1_alpha, w2_alpha,
    w1_bias, w2_bias, swiglu_alpha, swiglu_beta, swiglu_limit, activation, gate_first,
):  # fmt: skip
    functional = torch.nn.functional
    w1, w2 = widened(torch, w1, w1_scale, w1_alpha), widened(torch, w2, w2_scale, w2_alpha)
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

    def scales(rows, groups, depth):
        size = -int(np.log2(3 * max(1, depth) ** 0.5))
        return 2.0 ** (size + rng.integers(-1, 2, (e, rows, groups)))

    return {
        "w1_scale": scales(2 * i, sizes["G1"], d),
        "w2_scale": scales(d, sizes["G2"], i),
        "w1_alpha": rng.uniform(0.5, 2, e),
        "w2_alpha": rng.uniform(0.5, 2, e),
        "topk_ids": rng.integers(-1, e + 1, (n, k)),
    }


def experts(torch, x, w1, w2, topk_weights, topk_ids):
    """Return what a loop over the experts makes of the tokens."""
    y = torch.zeros_like(x, dtype=torch.float32)
    for e in range(len(w1)):
        tokens, slots = (topk_ids == e).nonzero(as_tuple=True)
        gate, value = (x[tokens] @ w1[e].mT).chunk(2, dim=-1)
        made = (torch.nn.functional.silu(gate) * value) @ w2[e].mT
        y.index_add_(0, tokens, topk_weights[tokens, slots, None] * made)
    return y


NUMBERS = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def eager(torch, x, w1, w2, w1_scale, w2_scale, topk_weights, topk_ids, activation):
    table = torch.tensor(NUMBERS + [-n for n in NUMBERS], dtype=x.dtype, device=x.device)

    def wide(codes, scale):
        numbers = table[torch.stack([codes & 15, codes >> 4], dim=-1).int()].flatten(-2)
        groups = numbers.unflatten(-1, (scale.shape[-1], -1))
        return (groups * scale.to(x.dtype)[..., None]).flatten(-2)

    w1, w2 = wide(w1, w1_scale), wide(w2, w2_scale)
    return experts(torch, x, w1, w2, topk_weights, topk_ids).to(x.dtype)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
