"""The frameworks of the examples: their adaptors, exact conversions from and to NumPy, and what runs here."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import opcast_backend
from numpy.typing import NDArray

NAMES = ("torch", "jax", "numpy", "cupy")

Values = NDArray[Any]
Conversions = tuple[Callable[[Values], Any], Callable[[Any], Values]]


@dataclass(frozen=True)
class Framework:
    """A framework with its generated adaptor."""

    name: str
    device: str
    ops: ModuleType
    xp: Any
    """Its functions on arrays, which join some."""
    array: Callable[[Values], Any]
    values: Callable[[Any], Values]
    compiled: Callable[[Callable[..., Any]], Callable[..., Any]]
    """Prepares a function that is called often, and whose first argument is overwritten."""
    inference: Callable[[], contextlib.AbstractContextManager[Any]]
    """Computes without gradients."""


def load(name: str) -> Framework:
    """Import a framework and its adaptor."""
    library: Any = import_module(name)
    array, values = _conversions(name, library)
    device = "cuda" if name == "cupy" else "cpu"
    xp = library.numpy if name == "jax" else library
    compiled = _jitted if name == "jax" else _as_it_is
    inference = library.inference_mode if name == "torch" else contextlib.nullcontext
    ops = import_module(f"opcast_{name}")
    return Framework(name, device, ops, xp, array, values, compiled, inference)


def why_not(name: str) -> str:
    """Return why the ops cannot run in a framework here; empty if they can."""
    if importlib.util.find_spec(name) is None:
        return "it is not installed"
    if name != "cupy":
        return ""
    if not import_module(name).is_available():
        return "no CUDA device"
    bare = [op.name for op in opcast_backend.ops().values() if "cuda" not in op.devices]
    return f"no CUDA kernel for {', '.join(bare)}" if bare else ""


def _conversions(name: str, library: Any) -> Conversions:
    if name == "torch":
        return _torch(library)
    if name == "jax":
        return library.numpy.asarray, np.asarray
    if name == "cupy":
        return library.asarray, library.asnumpy
    return library.copy, np.asarray


def _torch(torch: Any) -> Conversions:
    # NumPy's bfloat16 is unknown to torch.from_numpy: the bits go over as unsigned integers.
    def array(values: Values) -> object:
        bits = torch.from_numpy(values.view(f"u{values.itemsize}"))
        return bits.view(getattr(torch, values.dtype.name))

    def values(tensor: Any) -> Values:
        bits = tensor.view(getattr(torch, f"uint{8 * tensor.itemsize}")).numpy()
        return bits.view(str(tensor.dtype).removeprefix("torch."))

    return array, values


def _jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    return import_module("jax").jit(function, donate_argnums=0)


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
