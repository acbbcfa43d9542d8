"""An independent formula: autograd."""


def independent(torch, grad_y, x, alpha, limit):
    x.requires_grad_()
    gate, value = x.unflatten(-1, (-1, 2)).unbind(-1)
    gate, value = gate.clamp(max=limit), value.clamp(-limit, limit)
    y = torch.addcmul(gate, gate, value) * torch.sigmoid(alpha * gate)
    return torch.autograd.grad(y, x, grad_y)
