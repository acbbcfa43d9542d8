"""A kernel that exists already."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def relu(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """Keep what is positive, and NaN."""
    return np.maximum(x, np.zeros((), x.dtype))
