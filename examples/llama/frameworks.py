"""The frameworks: their adaptors, how arrays come in and out, and what runs before the first call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAMES = ("torch", "jax", "numpy")

Values = NDArray[Any]


@dataclass(frozen=True)
class Framework:
    """A framework with its generated adaptor."""

    name: str
    ops: ModuleType
    xp: Any
    """Its namespace of functions on arrays."""
    array: Callable[[Values], Any]
    compiled: Callable[[Callable[..., Any]], Callable[..., Any]]
    """Prepares a function whose first argument is overwritten."""
    inference: Callable[[], contextlib.AbstractContextManager[Any]]
    """Computes without gradients."""


def load(name: str) -> Framework:
    """Import a framework and its adaptor."""
    ops, library = import_module(f"opcast_{name}"), import_module(name)
    if name == "torch":
        return Framework(name, ops, library, _torch_array, _as_it_is, library.inference_mode)
    if name == "jax":
        xp = import_module("jax.numpy")
        return Framework(name, ops, xp, xp.asarray, _jitted, contextlib.nullcontext)
    return Framework(name, ops, library, np.asarray, _as_it_is, contextlib.nullcontext)


def _torch_array(values: Values) -> Any:
    torch: Any = import_module("torch")
    if values.dtype.name != "bfloat16":
        return torch.from_numpy(values)
    return torch.from_numpy(values.view(np.uint16)).view(torch.bfloat16)  # unknown to from_numpy


def _jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    return import_module("jax").jit(function, donate_argnums=0)


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
