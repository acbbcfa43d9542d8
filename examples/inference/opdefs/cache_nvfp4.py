"""Slots of which none is named twice."""

import numpy as np


def samples(rng, sizes):
    slots = rng.permutation(max(sizes["S"], sizes["N"]))[: sizes["N"]]
    return {"slots": np.where(slots < sizes["S"], slots, -1)}
