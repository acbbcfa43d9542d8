"""An independent formula."""


def independent(torch, x, weight, bias, eps):
    variance, mean = torch.var_mean(x, dim=-1, correction=0)
    y = torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)
    return y, mean, (variance + eps).rsqrt()


def eager(torch, x, weight, bias, eps):
    bias = None if bias is None else bias.to(x.dtype)
    return torch.nn.functional.layer_norm(x, weight.shape, weight.to(x.dtype), bias, eps)


def fused(jax, x, weight, bias, eps):
    wide = x.astype("float32")
    centred = wide - wide.mean(-1, keepdims=True)
    y = centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + eps) * weight
    return (y if bias is None else y + bias).astype(x.dtype)


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
