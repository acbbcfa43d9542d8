"""What the probes of streams share.

Each begins with arrays of zeros and lets the real contents arrive late, in the order of a stream: a call on another
stream computes with zeros. Zeros are contents that every op can read, where garbage might lead kernels astray.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opcast_worker.bound import Bound


def substituted(call: Bound, make: Callable[[Any], Any]) -> tuple[Bound, list[tuple[Any, Any]]]:
    """Return the call with each array replaced, and the pairs of the new and the old ones."""
    pairs: list[tuple[Any, Any]] = []

    def change(old: Any) -> Any:
        known = next((new for new, other in pairs if other is old), None)
        if known is None:
            known = make(old)
            pairs.append((known, old))
        return known

    return call.map(change), pairs


def results(value: Any) -> list[Any]:
    """Return the arrays that a call returned."""
    every: list[Any] = [*value] if isinstance(value, (tuple, list)) else [value]  # pyright: ignore[reportUnknownArgumentType]
    return every
