"""An independent formula: autograd cannot be given mean and rstd."""


def independent(torch, grad_y, x, weight, mean, rstd):
    rows = mean[:, None], rstd[:, None]
    return torch.ops.aten.native_layer_norm_backward(
        grad_y, x, x.shape[-1:], *rows, weight, torch.zeros_like(weight), [True] * 3
    )


def eager(torch, grad_y, x, weight, mean, rstd):
    # What autograd calls.
    rows, backward = (mean[:, None], rstd[:, None]), torch.ops.aten.native_layer_norm_backward
    return backward(grad_y, x, weight.shape, *rows, weight, weight, [True] * 3)


def fused(jax, grad_y, x, weight, mean, rstd):
    g, normal = grad_y.astype("float32"), (x - mean[..., None]) * rstd[..., None]
    weighted = g * weight
    along = normal * (weighted * normal).mean(-1, keepdims=True)
    grad_x = rstd[..., None] * (weighted - weighted.mean(-1, keepdims=True) - along)
    rows = tuple(range(x.ndim - 1))
    sums = ((g * normal).sum(rows), g.sum(rows))
    return grad_x.astype(x.dtype), *(part.astype(weight.dtype) for part in sums)


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
