"""Plans as decode_plan makes them."""

import numpy as np


def samples(rng, sizes):
    rows = sizes["pieces"] + sizes["B"]
    owners, ranges = np.zeros(rows), np.zeros((rows, 2))
    if sizes["B"]:
        ends = np.sort(rng.integers(0, sizes["N"], rows, endpoint=True))
        owners = np.sort(rng.integers(0, sizes["B"], rows))
        ranges = np.stack([np.append(0, ends[:-1]), ends], axis=-1)
    return {"owners": owners, "ranges": ranges}
