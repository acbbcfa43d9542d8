"""An independent formula."""


def independent(torch, x, alpha, limit):
    gate, value = x.unflatten(-1, (-1, 2)).unbind(-1)
    gate, value = gate.clamp(max=limit), value.clamp(-limit, limit)
    return torch.addcmul(gate, gate, value) * torch.sigmoid(alpha * gate)


def eager(torch, x, alpha, limit):
    gate, value = x[..., ::2].clamp(max=limit), x[..., 1::2].clamp(-limit, limit)
    return (value + 1) * gate * torch.sigmoid(gate * alpha)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
