"""An independent formula. Convolutions without a tap are not all known to PyTorch."""


def independent(torch, x, weight, bias, stride, padding, dilation, groups, P, Q):
    if x.numel() == 0 or weight.numel() == 0:
        y = torch.zeros(len(x), len(weight), P, Q, dtype=x.dtype)
        return y if bias is None else y + bias[:, None, None]
    return torch.nn.functional.conv2d(x, weight, bias, stride, padding, dilation, groups)
