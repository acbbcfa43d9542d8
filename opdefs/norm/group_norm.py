"""An independent formula."""


def independent(torch, x, weight, bias, num_groups, eps):
    groups = x.unflatten(1, (num_groups, -1)).flatten(2)
    variance, mean = torch.var_mean(groups, dim=-1, correction=0)
    if x.numel():  # PyTorch refuses empty channels
        x = torch.nn.functional.group_norm(x, num_groups, weight, bias, eps)
    return x, mean, (variance + eps).rsqrt()


def eager(torch, x, weight, bias, num_groups, eps):
    bias = None if bias is None else bias.to(x.dtype)
    return torch.nn.functional.group_norm(x, num_groups, weight.to(x.dtype), bias, eps)


def fused(jax, x, weight, bias, num_groups, eps):
    wide = x.astype("float32").reshape(len(x), num_groups, -1)
    centred = wide - wide.mean(-1, keepdims=True)
    scale = jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + eps)
    y = (centred * scale).reshape(x.shape) * weight[:, None]
    return (y if bias is None else y + bias[:, None]).astype(x.dtype)


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
