"""An independent formula: autograd."""


def independent(torch, grad_c):
    a, b = (torch.zeros_like(grad_c, requires_grad=True) for _ in range(2))
    return torch.autograd.grad(torch.add(a, b), (a, b), grad_c)


def eager(torch, grad_c):
    return torch.clone(grad_c), torch.clone(grad_c)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
