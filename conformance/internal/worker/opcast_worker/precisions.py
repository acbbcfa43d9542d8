"""In which precision the reference of an op is evaluated."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
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


def widen(array: NDArray, whole: str | None, real: str, *, low: bool = False) -> NDArray:
    """Return an array in the precision of the evaluation; booleans, and other integers, stay.

    With ``low``, numbers of 8 bits stay, too: PyTorch converts them where a formula says so.
    """
    if low and array.dtype.name.startswith("float8"):
        return array
    if array.dtype.kind == "c":
        return array.astype(np.result_type(real, "complex64"))
    if array.dtype.kind not in "iub":
        return array.astype(real)
    return array if whole is None or array.dtype.kind == "b" else array.astype(whole)


def parts(array: NDArray) -> NDArray:
    """Return the parts of complex numbers as a last dimension of two, other numbers as they are."""
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array


def evaluated(
    evaluate: Callable[[dict[str, Any]], tuple[Any, ...]], arguments: dict[str, Any]
) -> tuple[Any, ...]:
    """Return what a reference gives, with NaN for each integer that it may have made of NaN.

    Each machine converts NaN in its own way. These are the integers that NumPy makes of it here, where NumPy warns of
    such a conversion: ``evaluate`` lets it.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = evaluate(arguments)
    if not any("encountered in cast" in str(w.message) for w in caught):
        return results
    return tuple(map(unsure, results))


def integers(array: NDArray) -> list[int] | None:
    """Return the elements if they are integers of which float64 lacks some."""
    if array.dtype.kind not in "iuO" or array.dtype.itemsize < 8 or array.size == 0:
        return None
    if array.max() <= 2**53 and array.min() >= -(2**53):
        return None
    values: list[Any] = array.ravel().tolist()
    whole = all(isinstance(v, int | np.integer) for v in values)
    return [int(v) for v in values] if whole else None


def unsure(result: Any) -> Any:
    """Return a result with NaN in the place of integers that are NumPy's for NaN."""
    array = np.asarray(result)
    if array.dtype.kind not in "iu":
        return result
    with np.errstate(invalid="ignore"):
        made = np.array(np.nan).astype(array.dtype)
    return np.where(array == made, np.nan, array)
