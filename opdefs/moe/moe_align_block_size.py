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
