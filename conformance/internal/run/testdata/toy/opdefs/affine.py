"""An independent formula."""


def independent(torch, x, w, bias, alpha, mode):
    y = torch.mul(x, w).mul(alpha)
    if bias is not None:
        y = y + bias
    return torch.nn.functional.relu(y) if mode == "relu" else y
