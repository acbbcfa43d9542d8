"""An independent formula: autograd."""


def independent(torch, grad_y, ids, weight):
    weight.requires_grad_()
    y = torch.nn.functional.embedding(ids.long(), weight)
    return torch.autograd.grad(y, weight, grad_y)[0]
