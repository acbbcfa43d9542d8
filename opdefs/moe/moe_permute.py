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


def eager(torch, x, topk_ids, num_experts):
    items, device = topk_ids.flatten(), x.device
    items = items.where((items >= 0) & (items < num_experts), num_experts)
    items, order = torch.sort(items, stable=True)
    known = items < num_experts
    permuted = x[order // topk_ids.shape[1]].masked_fill(~known[:, None], 0)
    places = torch.arange(len(items), dtype=torch.int32, device=device).where(known, -1)
    row_map = torch.empty_like(places).scatter_(0, order, places)
    experts = torch.arange(num_experts + 1, dtype=torch.int32, device=device)
    ends = torch.searchsorted(items, experts, out_int32=True)
    return permuted, row_map.view(topk_ids.shape), ends


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
