"""An independent formula."""


def independent(torch, x, residual, weight, bias, eps):
    total = x + residual
    return torch.nn.functional.layer_norm(total, x.shape[-1:], weight, bias, eps), total


def eager(torch, x, residual, weight, bias, eps):
    residual.add_(x)
    bias = None if bias is None else bias.to(x.dtype)
    y = torch.nn.functional.layer_norm(residual, weight.shape, weight.to(x.dtype), bias, eps)
    return x.copy_(y), residual


def fused(jax, x, residual, weight, bias, eps):
    total = x + residual
    wide = total.astype("float32")
    centred = wide - wide.mean(-1, keepdims=True)
    y = centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + eps) * weight
    return (y if bias is None else y + bias).astype(x.dtype), total


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
