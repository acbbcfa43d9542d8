"""An independent formula: autograd of products of every row with every matrix, times whether it is its own."""


def independent(torch, grad_c, a, b, expert_offsets):
    a, b = a.requires_grad_(), b.requires_grad_()
    rows = torch.arange(len(a))[:, None]
    own = (rows >= expert_offsets[:-1]) & (rows < expert_offsets[1:])
    c = torch.einsum("me,mk,enk->mn", own.to(a.dtype), a, b)
    return torch.autograd.grad(c, (a, b), grad_c)


def eager(torch, grad_c, a, b, expert_offsets):
    # Rows in front of the first expert's count as its own there, those behind the last one's are not written.
    rows = torch.arange(len(a), dtype=torch.int32, device=a.device)[:, None]
    known = (rows >= expert_offsets[0]) & (rows < expert_offsets[-1])
    grad_c, ends = torch.where(known, grad_c, 0), expert_offsets[1:]
    grad_a = torch._grouped_mm(grad_c, b, offs=ends)
    return torch.where(known, grad_a, 0), torch._grouped_mm(grad_c.T, a, offs=ends)


def one_by_one(torch, grad_c, a, b, expert_offsets):
    ends = expert_offsets.tolist()
    grad_a, grad_b = torch.zeros_like(a), torch.zeros_like(b)
    for i, (begin, end) in enumerate(zip(ends, ends[1:])):
        torch.mm(grad_c[begin:end], b[i], out=grad_a[begin:end])
        torch.mm(grad_c[begin:end].T, a[begin:end], out=grad_b[i])
    return grad_a, grad_b


def peers(framework):
    return {"torch": {"torch": eager, "torch, one by one": one_by_one}}.get(framework)
