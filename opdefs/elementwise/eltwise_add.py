"""An independent formula."""


def independent(torch, a, b):
    return torch.add(a, b)
