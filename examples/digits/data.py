"""The data of the example: scikit-learn's bundled handwritten digits."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

HELD_OUT = 360
CLASSES = 10
BATCH = 256  # divisible by many numbers of processes
SMOOTHING, SEED = 0.05, 0

Images = NDArray[np.float32]
Split = tuple[Images, NDArray[np.int64]]


def load() -> tuple[Split, Split]:
    """Return (images, labels) for training and for testing.

    An image is a row of 8 x 8 pixels in 0 to 1. The last 360 images of the file are held out, which is
    harder than a random split.
    """
    # Slow to import, and not needed by a process that only starts others.
    digits: Any = import_module("sklearn.datasets").load_digits()
    images = (digits.data / 16).astype(np.float32)
    labels = digits.target
    return (images[:-HELD_OUT], labels[:-HELD_OUT]), (images[-HELD_OUT:], labels[-HELD_OUT:])


def batches(count: int) -> Iterator[tuple[Images, Images]]:
    """Yield batches of deformed training images with their smoothed targets, always the same ones."""
    (images, labels), _ = load()
    targets = np.eye(CLASSES)[labels] * (1 - SMOOTHING) + SMOOTHING / CLASSES
    rng = np.random.default_rng(SEED)
    for _ in range(count):
        chosen = rng.choice(len(images), BATCH, replace=False)
        yield deform(rng, images[chosen]), targets[chosen].astype(np.float32)


def deform(rng: np.random.Generator, images: Images) -> Images:
    """Return each image shifted, turned, scaled and sheared a little, since there are few."""
    count, side = len(images), 8
    padded = np.pad(images.reshape(count, side, side), ((0, 0), (2, 2), (2, 2)))
    matrix = np.eye(2) + rng.normal(0, 0.1, (count, 2, 2))
    shift = rng.normal(0, 0.5, (count, 2, 1, 1))
    centre = (side - 1) / 2
    place = np.einsum("nij,jhw->nihw", matrix, np.mgrid[0:side, 0:side] - centre)
    place = (place + shift + centre + 2).clip(0, side + 2.999)
    corner = place.astype(int)
    fraction = place - corner
    result = np.zeros((count, side, side))
    for step in np.ndindex(2, 2):  # the four pixels around each place
        y, x = (corner[:, axis] + step[axis] for axis in (0, 1))
        wy, wx = (np.abs(1 - step[axis] - fraction[:, axis]) for axis in (0, 1))
        result += wy * wx * padded[np.arange(count)[:, None, None], y, x]
    return result.reshape(count, side * side).astype(np.float32)
