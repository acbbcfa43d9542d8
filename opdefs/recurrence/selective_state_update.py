"""An independent formula, and states of which none is named twice."""

import numpy as np


def independent(torch, state, x, dt, a, b, c, d, z, dt_bias, state_batch_indices, dt_softplus):
    step = dt if dt_bias is None else dt + dt_bias
    step = -torch.nn.functional.logsigmoid(-step) if dt_softplus else step
    y, state, heads = torch.zeros_like(x), state.clone(), x.shape[1]
    for row in range(len(x)):
        slot = row if state_batch_indices is None else int(state_batch_indices[row])
        for head in range(heads if slot >= 0 else 0):
            group = head * b.shape[1] // heads
            decay = (step[row, head, :, None] * a[head]).exp()
            added = torch.outer(step[row, head] * x[row, head], b[row, group])
            state[slot, head] = state[slot, head] * decay + added
            y[row, head] = state[slot, head] @ c[row, group]
            if d is not None:
                y[row, head] += d[head] * x[row, head]
            if z is not None:
                y[row, head] *= torch.nn.functional.silu(z[row, head])
    return y, state


def samples(rng, sizes):
    slots = rng.permutation(sizes["M"])[: sizes["B"]]
    channels = (sizes["G"] * sizes["K"], sizes["P"])
    a = -np.abs(rng.standard_normal((*channels, sizes["N"])))
    dt = rng.standard_normal((sizes["B"], *channels))
    bias = rng.standard_normal(channels)
    if not sizes["dt_softplus"]:  # time does not go back, or else states grow without end
        dt, bias = np.abs(dt), np.abs(bias)
    slots = np.where(rng.random(len(slots)) < 0.1, -1, slots)
    return {"a": a, "dt": dt, "dt_bias": bias, "state_batch_indices": slots}


def eager(torch, state, x, dt, a, b, c, d, z, dt_bias, state_batch_indices, dt_softplus):
    step = dt.float() if dt_bias is None else dt.float() + dt_bias
    step = torch.nn.functional.softplus(step) if dt_softplus else step
    times = x.shape[1] // max(b.shape[1], 1)
    b, c = (part.float().repeat_interleave(times, 1)[:, :, None] for part in (b, c))
    slots = torch.arange(len(x), device=x.device)
    slots = slots if state_batch_indices is None else state_batch_indices.long()
    wide = x.float()
    new = state[slots] * torch.exp(a * step[..., None]) + (wide * step)[..., None] * b
    y = (new * c).sum(-1)
    y = y if d is None else y + wide * d
    y = y if z is None else y * torch.nn.functional.silu(z.float())
    # How many sequences are skipped is not known on the host: the state of one does not change.
    stays = (slots >= 0)[:, None, None]
    state[slots] = new.to(state.dtype).where(stays[..., None], state[slots])
    return y.where(stays, 0).to(x.dtype), state


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
