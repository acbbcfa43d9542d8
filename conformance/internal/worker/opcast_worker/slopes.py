"""Gradients by differences of order four, with how far coarse and fine ones are apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from opcast_worker.host import NDArray
from opcast_worker.precisions import parts

STEP = 2e-4
"""Of differences: at it, the errors of rounding and of leaving out higher derivatives are about equal."""


def risen(low: Any, high: Any) -> NDArray:
    """Return by how much elements rise: not at all from an infinity to the same."""
    a, b = np.asarray(low), np.asarray(high)
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0, b - a)


def slopes(rise: Callable[[NDArray, NDArray], float], at: NDArray) -> list[bytes]:
    """Return the gradient of a function and the distance between coarse and fine differences.

    That by a complex number is one by its real part and one by its imaginary part, as a last dimension of two.

    rise tells by how much the function rises from one array to another.
    """
    if np.iscomplexobj(at):
        return slopes(lambda low, high: rise(whole(low), whole(high)), parts(at))
    values, spread = np.zeros(at.shape), np.zeros(at.shape)
    for index in np.ndindex(at.shape):
        fine, coarse = (difference(rise, at, index, step) for step in (STEP, 2 * STEP))
        values[index] = (4 * fine - coarse) / 3
        spread[index] = abs(fine - coarse)
    return [values.tobytes(), spread.tobytes()]


def whole(pairs: NDArray) -> NDArray:
    """Return the complex numbers that have these parts."""
    return pairs[..., 0] + 1j * pairs[..., 1]


def difference(
    rise: Callable[[NDArray, NDArray], float], at: NDArray, index: tuple[int, ...], step: float
) -> float:
    """Return the central difference of a function with respect to one element."""
    low, high = at.copy(), at.copy()
    low[index] -= step
    high[index] += step
    return rise(low, high) / float(high[index] - low[index])
