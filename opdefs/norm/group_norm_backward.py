"""An independent formula: autograd cannot be given mean and rstd."""


def independent(torch, grad_y, x, weight, mean, rstd, bias, num_groups):
    grads = torch.ops.aten.native_group_norm_backward(
        grad_y, x, mean, rstd, weight, *x.shape, num_groups, [True] * 3
    )
    return (*grads[:2], None if bias is None else grads[2])


def eager(torch, grad_y, x, weight, mean, rstd, bias, num_groups):
    # What autograd calls, with statistics in the dtype that it saves them in.
    rows, wanted = (mean.to(x.dtype), rstd.to(x.dtype)), [True, True, bias is not None]
    backward = torch.ops.aten.native_group_norm_backward
    return backward(grad_y, x, *rows, weight, *x.shape, num_groups, wanted)


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
