"""An independent formula: autograd."""


def independent(torch, grad_y, x, approximate):
    x.requires_grad_()
    y = torch.nn.functional.gelu(x, approximate=approximate)
    return torch.autograd.grad(y, x, grad_y)


def eager(torch, grad_y, x, approximate):
    return torch.ops.aten.gelu_backward(grad_y, x, approximate=approximate)


def fused(jax, grad_y, x, approximate):
    return jax.vjp(lambda x: jax.nn.gelu(x, approximate=approximate == "tanh"), x)[1](grad_y)


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
