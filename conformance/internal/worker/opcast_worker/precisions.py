"""In which precision the reference of an op is evaluated."""

from __future__ import annotations

from opcast_worker.host import NDArray

PRECISIONS: dict[str, tuple[str | None, str]] = {
    "float64": (None, "float64"),
    "float32": (None, "float32"),
    "longdouble": (None, "longdouble"),
    "exact": ("object", "float64"),
    "real": ("float64", "float64"),
    "int64": ("int64", "float64"),
    "real32": ("float32", "float32"),
}
"""The dtypes of integers that are no indices (None for their own), and of numbers of floating point."""


def widen(array: NDArray, whole: str | None, real: str) -> NDArray:
    """Return an array in the precision of the evaluation; booleans, and other integers, stay."""
    if array.dtype.kind not in "iub":
        return array.astype(real)
    return array if whole is None or array.dtype.kind == "b" else array.astype(whole)
