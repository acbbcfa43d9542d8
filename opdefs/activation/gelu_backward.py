"""An independent formula: autograd."""


def independent(torch, grad_y, x, approximate):
    x.requires_grad_()
    y = torch.nn.functional.gelu(x, approximate=approximate)
    return torch.autograd.grad(y, x, grad_y)
