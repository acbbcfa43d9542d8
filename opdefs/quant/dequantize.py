"""An independent formula."""


def independent(torch, q, scale):
    if q.shape[-1] == 0:
        return q.double()
    groups = q.double().unflatten(-1, (scale.shape[-1], -1))
    return torch.einsum("...gn,...g->...gn", groups, scale).flatten(-2)
