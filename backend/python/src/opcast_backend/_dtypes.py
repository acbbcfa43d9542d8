"""The names of dtypes, which mean the same in every framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._gen.ops import LONG_NAMES

if TYPE_CHECKING:
    from ._framework import Framework


def dtype_name(fw: Framework, value: Any) -> str | None:
    """Return the long name of a dtype given by name, long or short, or as the framework's object.

    Names mean the same in every framework, also where NumPy has another meaning: its ``i8`` has 8 bytes.
    """
    if not isinstance(value, str):
        return fw.dtype_name(value)
    long = LONG_NAMES.get(value, value)
    return long if long in LONG_NAMES.values() else None
