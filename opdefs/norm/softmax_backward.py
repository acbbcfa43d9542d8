"""An independent formula: autograd would need the logits."""


def independent(torch, grad_y, y):
    return torch.ops.aten._softmax_backward_data(grad_y, y, -1, y.dtype)
