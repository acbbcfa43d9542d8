"""The network, written once: `ops` is any adaptor module, and every array is of its framework."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TypeVar

Array = TypeVar("Array")


def probabilities(ops: ModuleType, images: Array, w: Mapping[str, Array]) -> Array:
    """Return the probability of each digit, one row per image."""
    x = ops.rms_norm(images, w["norm"])
    x = ops.gemm(x, w["up"], w["up_bias"])
    x = ops.silu_and_mul(x)
    x = ops.gemm(x, w["down"], w["down_bias"])
    return ops.softmax(x)
