"""A call of any op, made up from what the collection says about it."""

from __future__ import annotations

import re
from collections import defaultdict
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


def attrs(op: Op, doc: str) -> dict[str, object]:
    """Return values for the attributes that have no default; the docstring lists the strings."""
    strings = dict(re.findall(r"^ *(\w+) : \{'([^']*)'", doc, re.MULTILINE))
    required = [attr for attr in op.attrs if attr.required]
    return {attr.name: strings.get(attr.name, BLANK.get(attr.type)) for attr in required}


def _dtype(op: Op, text: str, wanted: str) -> np.dtype[Any]:
    word = text.partition("[")[0]
    if word in op.dtypes:
        return np.dtype(wanted if wanted in op.dtypes[word] else op.dtypes[word][0])
    long = re.sub(r"^[a-z]+(?=\d)", lambda letters: LONG[letters[0]], word)
    return np.dtype(re.sub(r"(?<=\d)e", "_e", long))  # float8e4m3fn is float8_e4m3fn


def _shape(op: Op, text: str) -> tuple[int, ...]:
    names: defaultdict[str, Any] = defaultdict(lambda: SIZE, min=min, max=max, ceildiv=_ceildiv)
    names.update((attr.name, attr.default) for attr in op.attrs if attr.default is not None)
    dims = text.partition("[")[2].removesuffix("]")
    batch = () if dims.strip("*.") == dims else (BATCH,)
    dims = dims.lstrip("*., ")
    return batch + (eval(f"({dims},)", {}, names) if dims else ())


def _ceildiv(a: int, b: int) -> int:
    return -(-a // b)
