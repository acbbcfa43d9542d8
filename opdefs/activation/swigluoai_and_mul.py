"""An independent formula."""


def independent(torch, x, alpha, limit):
    gate, value = x.unflatten(-1, (-1, 2)).unbind(-1)
    gate, value = gate.clamp(max=limit), value.clamp(-limit, limit)
    return torch.addcmul(gate, gate, value) * torch.sigmoid(alpha * gate)
