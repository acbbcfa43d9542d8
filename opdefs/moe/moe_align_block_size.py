"""An independent formula, and ids of which some are no expert's."""


def independent(torch, topk_ids, num_experts, block_size, S):
    items = topk_ids.flatten().long()
    known = (items >= 0) & (items < num_experts)
    counts = torch.bincount(items[known], minlength=num_experts)
    blocks = (counts + block_size - 1) // block_size
    ends = torch.cumsum(blocks * block_size, 0)
    order = torch.argsort(torch.where(known, items, num_experts), stable=True)[: int(known.sum())]
    own = items[order]
    within = torch.arange(len(own)) - (torch.cumsum(counts, 0) - counts)[own]
    sorted_ids = torch.full((S,), len(items))
    sorted_ids[(ends - blocks * block_size)[own] + within] = order
    expert_ids = torch.full((-(-S // block_size),), -1)
    expert_ids[: int(blocks.sum())] = torch.repeat_interleave(torch.arange(num_experts), blocks)
    return sorted_ids, expert_ids, ends[-1:]


def samples(rng, sizes):
    return {"topk_ids": rng.integers(-1, sizes["num_experts"] + 1, (sizes["N"], sizes["k"]))}


def eager(torch, topk_ids, num_experts, block_size):
    items, device = topk_ids.flatten(), topk_ids.device
    items = items.where((items >= 0) & (items < num_experts), num_experts)
    items, order = torch.sort(items, stable=True)
    offsets = torch.searchsorted(items, torch.arange(num_experts + 1, device=device).int())
    padded = (offsets.diff() + block_size - 1) // block_size * block_size
    ends = torch.nn.functional.pad(padded.cumsum(0), (1, 0))
    length = len(items) + num_experts * (block_size - 1)
    # What is left out goes to one more place, behind the last one.
    places = torch.arange(len(items), device=device) + (ends - offsets)[items]
    places = places.where(items < num_experts, length)
    sorted_ids = torch.full((length + 1,), len(items), dtype=torch.int32, device=device)
    sorted_ids[places] = order.int().where(items < num_experts, len(items))
    blocks = torch.arange(0, length, block_size, device=device)
    expert_ids = torch.searchsorted(ends[1:], blocks, right=True, out_int32=True)
    return sorted_ids[:-1], expert_ids.where(expert_ids < num_experts, -1), ends[-1:].int()


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
