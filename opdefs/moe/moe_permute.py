"""An independent formula, and ids of which some are no expert's."""


def independent(torch, x, topk_ids, num_experts):
    items = topk_ids.flatten().long()
    groups = [torch.nonzero(items == e).flatten() for e in range(num_experts)]
    order = torch.cat(groups)
    rows = x.repeat_interleave(topk_ids.shape[1], 0)[order]
    permuted = torch.nn.functional.pad(rows, (0, 0, 0, len(items) - len(rows)))
    row_map = torch.full_like(items, -1).scatter(0, order, torch.arange(len(order)))
    ends = torch.cumsum(torch.tensor([0] + [len(g) for g in groups]), 0)
    return permuted, row_map.reshape(topk_ids.shape), ends


def samples(rng, sizes):
    return {"topk_ids": rng.integers(-1, sizes["num_experts"] + 1, (sizes["N"], sizes["k"]))}
