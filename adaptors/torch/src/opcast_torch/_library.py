"""The library that enters the ops into PyTorch's registry, for which no Python is needed.

Its kernels have the backend check the arguments and make the results. PyTorch passes only the text of
their errors on, so kernels in Python, which raise the errors themselves, take their place in a process
that has this package.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import torch

from ._collection import NAME, NAMESPACE, backend

_ops: Any = torch.ops  # untyped


def load() -> None:
    """Load the library, and let its kernels find those of the backend."""
    path = backend.library(Path(__file__).with_name("lib") / f"lib{NAME}_torch.so")
    _ops.load_library(str(path))
    handlers, kernels = ctypes.CDLL(str(path)), ctypes.CDLL(str(backend.library_path()))
    bind: Any = handlers.opcast_torch_bind
    bind.argtypes, bind.restype = (ctypes.c_void_p, ctypes.c_void_p), ctypes.c_bool
    names = ("__tvm_ffi__opcast_op", "__tvm_ffi__opcast_make")
    if not bind(*[ctypes.cast(getattr(kernels, name), ctypes.c_void_p) for name in names]):
        raise ImportError(f"{NAME}: another library has put the ops of {NAMESPACE} into PyTorch")
