"""The library that enters the ops into PyTorch's registry, for which no Python is needed.

Its kernels have the backend check the arguments and make the results. PyTorch passes only the text of
their errors on, so what calls them from Python takes the errors from the backend.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ._collection import NAME, NAMESPACE, backend

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["faithful"]

_ops: Any = torch.ops  # untyped


def _load() -> None:
    path = backend.library(Path(__file__).with_name("lib") / f"lib{NAME}_torch.so")
    _ops.load_library(str(path))
    handlers, kernels = ctypes.CDLL(str(path)), ctypes.CDLL(str(backend.library_path()))
    bind: Any = handlers.opcast_torch_bind
    bind.argtypes, bind.restype = (ctypes.c_void_p, ctypes.c_void_p), ctypes.c_bool
    names = ("__tvm_ffi__opcast_op", "__tvm_ffi__opcast_make")
    if not bind(*[ctypes.cast(getattr(kernels, name), ctypes.c_void_p) for name in names]):
        raise ImportError(f"{NAME}: another library has put the ops of {NAMESPACE} into PyTorch")


_load()


def faithful(call: Callable[..., Any], *args: Any) -> Any:
    """Call what ends in a kernel of the library, whose errors come as the backend raised them."""
    try:
        return call(*args)
    except RuntimeError as error:
        backend.reraise(error)
        raise
