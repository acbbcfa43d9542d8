"""An independent formula."""


def independent(torch, x, weight, eps):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
