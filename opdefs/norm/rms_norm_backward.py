"""An independent formula: autograd."""


def independent(torch, grad_y, x, weight, eps):
    x.requires_grad_()
    weight.requires_grad_()
    y = torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
    return torch.autograd.grad(y, (x, weight), grad_y)
