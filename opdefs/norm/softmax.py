"""An independent formula."""


def independent(torch, x):
    return torch.softmax(x, dim=-1)
