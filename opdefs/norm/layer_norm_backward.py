"""An independent formula: autograd cannot be given mean and rstd."""


def independent(torch, grad_y, x, weight, mean, rstd, bias):
    rows = mean[..., None], rstd[..., None]
    grads = torch.ops.aten.native_layer_norm_backward(
        grad_y, x, x.shape[-1:], *rows, weight, torch.zeros_like(weight), [True] * 3
    )
    return (*grads[:2], None if bias is None else grads[2])


def eager(torch, grad_y, x, weight, mean, rstd, bias):
    # What autograd calls, with statistics in the dtype that it saves them in.
    stats = (mean, rstd) if x.is_cuda else (mean.to(x.dtype), rstd.to(x.dtype))
    rows, wanted = [part[..., None] for part in stats], [True, True, bias is not None]
    backward = torch.ops.aten.native_layer_norm_backward
    return backward(grad_y, x, weight.shape, *rows, weight, bias, wanted)


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
