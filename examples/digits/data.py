"""The data of the example: scikit-learn's bundled handwritten digits."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits  # pyright: ignore[reportMissingTypeStubs]

HELD_OUT = 360

Split = tuple[NDArray[np.float32], NDArray[np.int64]]


def load() -> tuple[Split, Split]:
    """Return (images, labels) for training and for testing.

    An image is a row of 8 x 8 pixels in 0 to 1. The last 360 images of the file are held out, which is
    harder than a random split.
    """
    digits = cast("Any", load_digits())
    images = (digits.data / 16).astype(np.float32)
    labels = digits.target
    return (images[:-HELD_OUT], labels[:-HELD_OUT]), (images[-HELD_OUT:], labels[-HELD_OUT:])
