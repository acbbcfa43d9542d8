"""An independent formula: autograd cannot be given mean and rstd."""


def independent(torch, grad_y, x, weight, mean, rstd, bias):
    rows = mean[..., None], rstd[..., None]
    grads = torch.ops.aten.native_layer_norm_backward(
        grad_y, x, x.shape[-1:], *rows, weight, torch.zeros_like(weight), [True] * 3
    )
    return (*grads[:2], None if bias is None else grads[2])
