"""The reference, an independent formula, and scales of the size that they have in models."""

import numpy as np


def scaled(x, scale):
    """Multiply the blocks of the last two dims by their scales."""
    for axis in (-2, -1):
        scale = np.repeat(scale, x.shape[axis] // scale.shape[axis], axis=axis)
    return x * scale


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
    x, w1, w2, w1_scale, w2_scale, topk_weights, topk_ids, x_scale, w1_bias, w2_bias,
    swiglu_alpha, swiglu_beta, swiglu_limit, activation, gate_first,
):  # fmt: skip
    w1, w2 = scaled(w1, w1_scale), scaled(w2, w2_scale)
    x = x if x_scale is None else scaled(x[:, None], x_scale[:, None])[:, 0]
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


def block_of(w, scale):
    return [1, *(n // blocks for n, blocks in zip(w.shape[1:], scale.shape[1:], strict=True))]


def independent(
    torch, x, w1, w2, w1_scale, w2_scale, topk_weights, topk_ids, x_scale, w1_bias, w2_bias,
    swiglu_alpha, swiglu_beta, swiglu_limit, activation, gate_first,
):  # fmt: skip
    functional = torch.nn.functional
    if x_scale is not None and x.numel():
        x = (x.unflatten(1, (x_scale.shape[1], -1)) * x_scale[..., None]).flatten(1)
    w1 = w1 * torch.kron(w1_scale, x.new_ones(block_of(w1, w1_scale)))
    w2 = w2 * torch.kron(w2_scale, x.new_ones(block_of(w2, w2_scale)))
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
        "w1_scale": rng.uniform(0.5, 2, (e, sizes["R1"], sizes["C1"])) / max(1, d) ** 0.5,
        "w2_scale": rng.uniform(0.5, 2, (e, sizes["R2"], sizes["C2"])) / max(1, i) ** 0.5,
        "x_scale": rng.uniform(0.5, 2, (n, sizes["C1"])),
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


def eager(
    torch, x, w1, w2, w1_scale, w2_scale, topk_weights, topk_ids, x_scale, activation, out_dtype
):
    def wide(numbers, scale):
        for dim in (-2, -1):
            scale = scale.repeat_interleave(numbers.shape[dim] // scale.shape[dim], dim)
        return numbers.to(out_dtype) * scale.to(out_dtype)

    x = wide(x[:, None], x_scale[:, None])[:, 0]
    w1, w2 = wide(w1, w1_scale), wide(w2, w2_scale)
    return experts(torch, x, w1, w2, topk_weights, topk_ids).to(out_dtype)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
