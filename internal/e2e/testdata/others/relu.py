"""A kernel that exists already, and some that one would leave behind."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray


def relu(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """Keep what is positive, and NaN."""
    return np.maximum(x, np.zeros((), x.dtype))


def too_much(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """Be off by one percent."""
    return relu(x) * x.dtype.type(1.01)


def raises(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """Refuse everything."""
    raise RuntimeError("not today")


def dies(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """End the process."""
    os.abort()
