"""An independent formula: autograd."""


def independent(torch, grad_y, x, weight, eps):
    x.requires_grad_()
    weight.requires_grad_()
    y = torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
    return torch.autograd.grad(y, (x, weight), grad_y)


def eager(torch, grad_y, x, weight, eps):
    g, wide = grad_y.float(), x.float()
    scale = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
    weighted = g * weight.float()
    grad_x = scale * (weighted - wide * (scale**2 * (weighted * wide).mean(-1, keepdim=True)))
    grad_weight = (g * wide * scale).flatten(0, -2).sum(0)
    return grad_x.to(x.dtype), grad_weight.to(weight.dtype)


def differentiated(torch, grad_y, x, weight, eps):
    x, weight = (part.detach().requires_grad_() for part in (x, weight))
    y = torch.nn.functional.rms_norm(x, weight.shape, weight.to(x.dtype), eps)
    return torch.autograd.grad(y, [x, weight], grad_y)


def fused(jax, grad_y, x, weight, eps):
    def forward(x, weight):
        wide = x.astype("float32")
        scale = jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + eps)
        return (wide * scale * weight.astype("float32")).astype(x.dtype)

    return jax.vjp(forward, x, weight)[1](grad_y)


def peers(framework):
    torch = {"torch": eager, "torch, autograd": differentiated}
    jax = {"jax.jit": fused}
    return {"torch": torch, "jax": jax}.get(framework)
