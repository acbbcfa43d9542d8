"""An independent formula."""


def independent(torch, x, residual, weight, bias, eps):
    total = x + residual
    return torch.nn.functional.layer_norm(total, x.shape[-1:], weight, bias, eps), total
