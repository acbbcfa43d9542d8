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
    """Return arrays of the declared types, with all sizes alike and numbers around 0."""
    rng = np.random.default_rng(op.kind)
    return [
        rng.standard_normal(_shape(op, arg.type)).astype(_dtype(op, arg.type, dtype))
        for arg in op.inputs
    ]


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
    """Return a shape of a type; its dims are leading ones (``*``), names, and multiples of names."""
    dims = text.partition("[")[2].removesuffix("]").split(", ")
    return tuple(BATCH if dim == "*" else _size(op, dim) for dim in dims)


def _size(op: Op, dim: str) -> int:
    form = re.fullmatch(r"(?:(\d+)\*)?[A-Za-z]\w*", dim)
    if form is None:
        raise ValueError(f"{op.name}: the sample knows names and multiples of names, got {dim}")
    return int(form[1] or 1) * SIZE
