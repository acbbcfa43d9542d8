"""An independent formula: autograd."""


def independent(torch, grad_y, ids, weight):
    weight.requires_grad_()
    y = torch.nn.functional.embedding(ids.long(), weight)
    return torch.autograd.grad(y, weight, grad_y)[0]


def eager(torch, grad_y, ids, weight):
    return torch.ops.aten.embedding_dense_backward(grad_y, ids, len(weight), -1, False)


def summed(torch, grad_y, ids, weight):
    return torch.zeros_like(weight).index_add_(0, ids.flatten(), grad_y.flatten(0, -2))


def peers(framework):
    return {"torch": {"torch": eager, "torch, index_add_": summed}}.get(framework)
