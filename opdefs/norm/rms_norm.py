"""An independent formula."""


def independent(torch, x, weight, eps):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)


def eager(torch, x, weight, eps):
    return torch.nn.functional.rms_norm(x, weight.shape, weight.to(x.dtype), eps)


def fused(jax, x, weight, eps):
    wide = x.astype("float32")
    scale = jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + eps)
    return (wide * scale * weight.astype("float32")).astype(x.dtype)


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
