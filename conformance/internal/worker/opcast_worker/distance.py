"""How far the results of one function are from those of another, in units of what a definition allows."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from opcast_worker.bound import Request
from opcast_worker.host import NDArray

_finfo: Any = ml_dtypes.finfo  # knows the dtypes of NumPy, too

BLOCK = 1 << 20
"""Elements that are looked at together: float64 of all might not fit into memory."""


def distance(want: NDArray, got: NDArray, bound: Request) -> float:
    """Return the root mean square of the differences, divided by that of what is allowed.

    Single elements may be far off where much cancels, however good a formula is; so they count together. Integers are
    equal or infinitely far.
    """
    if want.shape != got.shape:
        raise ValueError(f"expected a result of shape {list(want.shape)}, got {list(got.shape)}")
    off = room = 0.0
    ours, theirs = want.reshape(-1), got.reshape(-1)
    with np.errstate(all="ignore"):
        for begin in range(0, ours.size, BLOCK):
            a, b = (x[begin : begin + BLOCK].astype(np.float64) for x in (ours, theirs))
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            off += float(np.sum(np.where(same, 0, a - b) ** 2))
            room += float(np.sum(np.where(np.isfinite(a), allowed(a, want.dtype, bound), 0) ** 2))
    if off == 0:
        return 0.0
    return float(np.sqrt(off / room)) if room > 0 and np.isfinite(off) else float("inf")


def allowed(values: NDArray, dtype: np.dtype[Any], bound: Request) -> NDArray:
    """Return how far an element may be from each value."""
    room: NDArray = bound["abs"] + bound["rel"] * np.abs(values)
    if not bound["ulps"]:
        return room
    kind = _finfo(dtype)
    size = np.maximum(np.abs(values), float(kind.smallest_normal))
    return room + bound["ulps"] * float(kind.eps) * np.exp2(np.floor(np.log2(size)))
