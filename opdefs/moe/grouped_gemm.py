"""An independent formula: every row with every matrix, times whether it is its own."""


def independent(torch, a, b, expert_offsets):
    rows = torch.arange(len(a))[:, None]
    own = (rows >= expert_offsets[:-1]) & (rows < expert_offsets[1:])
    return torch.einsum("me,mk,enk->mn", own.to(a.dtype), a, b)
