"""An independent formula: autograd."""


def independent(torch, grad_y, x):
    x.requires_grad_()
    gate, value = torch.chunk(x, 2, dim=-1)
    return torch.autograd.grad(torch.nn.functional.silu(gate) * value, x, grad_y)
