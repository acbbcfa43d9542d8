"""A function as simple as it can be, in a module that looks for itself while it is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


@dataclass
class Accepted:
    """What the function takes: dataclasses look up the words of such a line in their module."""

    names: ClassVar[tuple[str, ...]] = ("float32", "float64")


def same(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """Copy, in whatever byte order the input is."""
    if type(x) is not np.ndarray or x.ndim < 1 or x.dtype.name not in Accepted.names:
        raise TypeError("floats, please")
    return x.copy()
