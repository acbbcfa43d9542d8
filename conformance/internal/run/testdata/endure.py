"""The toy's affine by hand: right, and wrong in the ways that show only when a call does not stay alone."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import time
from typing import Any

import numpy as np

kept: list[Any] = []
shared: dict[str, Any] = {}


def right(
    x: Any, w: Any = None, bias: Any = None, *, alpha: float = 1.0, mode: str = "plain"
) -> Any:
    """Compute in float64 and round once."""
    if w is None or x.shape[-1:] != w.shape or w.ndim != 1:
        raise ValueError("affine: w does not fit")
    y = alpha * (x.astype(np.float64) * w.astype(np.float64))
    if bias is not None:
        y = y + bias.astype(np.float64)
    return (np.maximum(y, 0) if mode == "relu" else y).astype(x.dtype)


def blind(*args: Any, **attrs: Any) -> Any:
    """Compute where the C library has no mallinfo2."""
    ctypes.CDLL = lambda *_: object()  # pyright: ignore[reportAttributeAccessIssue]
    return right(*args, **attrs)


def keeps_results(*args: Any, **attrs: Any) -> Any:
    """Keep every result."""
    kept.append(right(*args, **attrs))
    return kept[-1]


def keeps_arguments(*args: Any, **attrs: Any) -> Any:
    """Keep a list of every call's arguments."""
    kept.append(args[0])
    return right(*args, **attrs)


def keeps_errors(*args: Any, **attrs: Any) -> Any:
    """Keep every error."""
    try:
        return right(*args, **attrs)
    except ValueError as error:
        kept.append(str(error) * 8)
        raise


def shares(*args: Any, **attrs: Any) -> Any:
    """Pass the arguments through a place that all threads have in common."""
    shared["args"] = args
    time.sleep(1e-4)
    return right(*shared["args"], **attrs)


def dies_in_child(*args: Any, **attrs: Any) -> Any:
    """End the process where it is a child."""
    if multiprocessing.parent_process() is not None:
        os._exit(7)
    return right(*args, **attrs)


def differs_in_child(*args: Any, **attrs: Any) -> Any:
    """Compute something else in a child."""
    y = right(*args, **attrs)
    return y if multiprocessing.parent_process() is None else y + 1
