"""An independent formula: autograd cannot be given mean and rstd."""


def independent(torch, grad_y, x, weight, mean, rstd):
    rows = mean[:, None], rstd[:, None]
    return torch.ops.aten.native_layer_norm_backward(
        grad_y, x, x.shape[-1:], *rows, weight, torch.zeros_like(weight), [True] * 3
    )
