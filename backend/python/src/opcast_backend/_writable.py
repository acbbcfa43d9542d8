"""Which arrays nobody may write: their framework, DLPack or the array itself says so."""

from __future__ import annotations

import ctypes
from typing import Any

# Frameworks whose arrays are values, by the first name of the module: who writes one changes what
# others hold. Their capsules do not say so.
IMMUTABLE = {
    "jax": "JAX",  # XLA shares memory among arrays, and compiled code may keep their values
    "jaxlib": "JAX",
    "mlx": "MLX",  # arrays share memory, and a computation that is still to be done may read it
    "pyarrow": "Arrow",  # columns and slices share buffers
}

_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def read_only(capsule: Any) -> bool:
    """Whether a capsule says that its memory is; those of old versions say nothing."""
    try:
        address = _pointer(capsule, b"dltensor_versioned")
    except ValueError:
        return False
    return bool(ctypes.c_uint64.from_address(address + 24).value & 1)  # flags of the C struct


def says_read_only(x: Any) -> bool:
    """Whether an array says in the way of NumPy or CuPy that nobody may write it."""
    if getattr(getattr(x, "flags", None), "writeable", None) is False:
        return True
    return _marked(x, "__array_interface__") or _marked(x, "__cuda_array_interface__")


def _marked(x: Any, name: str) -> bool:
    """Whether the description of an array has the mark of read-only memory beside its address."""
    try:
        return getattr(x, name)["data"][1] is True
    except Exception:  # a property of others may raise anything
        return False
