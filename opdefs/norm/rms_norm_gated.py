"""An independent formula."""


def independent(torch, x, z, weight, eps, group_size, norm_before_gate):
    def normalised(rows):
        size = group_size or rows.shape[-1]
        if size == 0 or rows.numel() == 0:
            return rows
        parts = rows.unflatten(-1, (-1, size))
        return torch.nn.functional.rms_norm(parts, (size,), None, eps).flatten(-2)

    gate = torch.nn.functional.silu(z)
    return (normalised(x) * gate if norm_before_gate else normalised(x * gate)) * weight


def eager(torch, x, z, weight, eps, group_size, norm_before_gate):
    wide, gate = x.float(), torch.nn.functional.silu(z.float())
    wide = wide if norm_before_gate else wide * gate
    parts = wide.unflatten(-1, (-1, group_size or x.shape[-1]))
    y = (parts * torch.rsqrt((parts * parts).mean(-1, keepdim=True) + eps)).flatten(-2) * weight
    return (y * gate if norm_before_gate else y).to(x.dtype)


def fused(jax, x, z, weight, eps, group_size, norm_before_gate):
    wide, gate = x.astype("float32"), jax.nn.silu(z.astype("float32"))
    wide = wide if norm_before_gate else wide * gate
    parts = wide.reshape(*x.shape[:-1], -1, group_size or x.shape[-1])
    scale = jax.lax.rsqrt((parts * parts).mean(-1, keepdims=True) + eps)
    y = (parts * scale).reshape(x.shape) * weight.astype("float32")
    return (y * gate if norm_before_gate else y).astype(x.dtype)


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
