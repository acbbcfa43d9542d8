"""An independent formula, and slots of which none is named twice."""

import numpy as np


def independent(torch, key, value, k_cache, v_cache, slot_mapping, k_scale, v_scale, layout):
    tokens = torch.nonzero(slot_mapping >= 0)[:, 0]
    results = []
    for tokens_of, cache, scale in ((key, k_cache, k_scale), (value, v_cache, v_scale)):
        rows = cache if layout == "NHD" else cache.transpose(1, 2)
        new = tokens_of[tokens] if scale is None else tokens_of[tokens] / scale
        flat = rows.flatten(0, 1).index_copy(0, slot_mapping[tokens].long(), new)
        rows = flat.unflatten(0, rows.shape[:2])
        results.append(rows if layout == "NHD" else rows.transpose(1, 2))
    return tuple(results)


def samples(rng, sizes):
    slots = rng.permutation(max(sizes["P"] * sizes["S"], sizes["N"]))[: sizes["N"]]
    skipped = (slots >= sizes["P"] * sizes["S"]) | (rng.random(sizes["N"]) < 0.1)
    return {"slot_mapping": np.where(skipped, -1, slots)}


def eager(torch, key, value, k_cache, v_cache, slot_mapping, k_scale, v_scale, layout):
    # A token to skip writes what the first one that stays writes: how many stay is not known on the host.
    stays = slot_mapping >= 0
    tokens = torch.arange(len(key), device=key.device).where(stays, stays.byte().argmax())
    for rows, cache, scale in ((key, k_cache, k_scale), (value, v_cache, v_scale)):
        pages = cache if layout == "NHD" else cache.transpose(1, 2)
        slots, new = slot_mapping[tokens], rows[tokens]
        new = new if scale is None else new / scale
        pages[slots // pages.shape[1], slots % pages.shape[1]] = new.to(cache.dtype)
    return k_cache, v_cache


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
