"""An independent formula."""


def independent(torch, grad_y, y):
    return torch.ops.aten.threshold_backward(grad_y, y, 0)


def eager(torch, grad_y, y):
    return torch.ops.aten.threshold_backward(grad_y, y, 0)


def fused(jax, grad_y, y):
    return jax.numpy.where(y <= 0, 0, grad_y)


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
