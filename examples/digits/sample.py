"""A call of any op, made up from what the collection says about it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from frameworks import Values
from opcast_backend import Op

BATCH, SIZE = 3, 8
LONG = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint", "c": "complex"}
BLANK = {"int": 1, "float": 1.0, "bool": False}


def dtypes(op: Op) -> list[str]:
    """Return the dtypes in which to call the op: those of its first variable."""
    return list(next(iter(op.dtypes.values()), ["float32"]))


def inputs(op: Op, dtype: str) -> list[Values]:
    """Return arrays of the declared types, with all sizes alike and numbers around 0.

    Integers are places in other arrays, so they are 0. Raises ValueError for lists, and for sizes that are not known.
    """
    rng = np.random.default_rng(op.kind)
    arrays: list[Values] = []
    for arg in op.inputs:
        if arg.list:
            raise ValueError(f"{op.name}: the sample knows no lists")
        kind = _dtype(op, arg.type, dtype)
        values = rng.standard_normal(_shape(op, arg.type))
        arrays.append(np.zeros_like(values, kind) if kind.kind in "iu" else values.astype(kind))
    return arrays


def attrs(op: Op) -> dict[str, object]:
    """Return values for the attributes that have no default."""
    required = [attr for attr in op.attrs if attr.required]
    return {attr.name: (*attr.one_of, BLANK.get(attr.type))[0] for attr in required}


def _dtype(op: Op, text: str, wanted: str) -> np.dtype[Any]:
    """Return the dtype of a type such as ``T[*, N]`` or ``f32[N]``."""
    word = text.partition("[")[0]
    if word in op.dtypes:
        return np.dtype(wanted if wanted in op.dtypes[word] else op.dtypes[word][0])
    return np.dtype(re.sub(r"^[a-z]+", lambda letters: LONG[letters[0]], word))


def _shape(op: Op, text: str) -> tuple[int, ...]:
    """Return a shape of a type; its dims are leading ones (``*``) or what _size knows."""
    dims = text.partition("[")[2].removesuffix("]").split(", ")
    return tuple(BATCH if dim == "*" else _size(op, dim) for dim in dims)


def _size(op: Op, dim: str) -> int:
    """Return a size for ``512``, ``N``, ``2*N``, ``N + 1`` or ``N//groups``."""
    if dim.isdecimal():
        return int(dim)
    form = re.fullmatch(r"(?:(\d+)\*)?[A-Za-z]\w*(?: \+ (\d+)|//([A-Za-z]\w*))?", dim)
    if form is None:
        raise ValueError(f"{op.name}: the sample knows no size for {dim}")
    parts = {attr.name: attr.default for attr in op.attrs}
    return (int(form[1] or 1) * SIZE + int(form[2] or 0)) // parts.get(form[3], 1)
