"""The library that enters the ops into PyTorch's registry, for which no Python is needed.

Its kernels have the backend check the arguments and make the results. PyTorch passes only the text of
their errors on, so here the overloads get the errors themselves back from the backend.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from .._collection import NAME, NAMESPACE, backend
from ._private import bare, calls

_ops: Any = torch.ops  # untyped
LIBRARY: Any = torch.library.Library(NAMESPACE, "FRAGMENT")
"""Where the kernels in Python are entered."""


def load() -> None:
    """Load the library, and let its kernels find those of the backend."""
    path = backend.library(Path(__file__).parents[1] / "lib" / f"lib{NAME}_torch.so")
    backend.opened(
        str(__package__).removesuffix("._runtime"), path, _ops.load_library, "opcast_torch_bind"
    )
    handlers, kernels = ctypes.CDLL(str(path)), ctypes.CDLL(str(backend.library_path()))
    bind: Any = handlers.opcast_torch_bind
    bind.argtypes, bind.restype = (ctypes.c_void_p,) * 3, ctypes.c_bool
    names = [f"__tvm_ffi__opcast_{name}" for name in ("op", "make", "lent_threads")]
    if not bind(*[ctypes.cast(getattr(kernels, name), ctypes.c_void_p) for name in names]):
        raise ImportError(f"{NAME}: another library has put the ops of {NAMESPACE} into PyTorch")
    # Every call with work for several threads asks PyTorch how many it may use, so that kernels keep to
    # torch.set_num_threads, and to the one thread that each worker of a DataLoader has.
    backend.limit_threads(ctypes.cast(handlers.opcast_torch_threads, ctypes.c_void_p).value or 0)
    _tag_caches()


def _tag_caches() -> None:
    """Keep torch.compile from taking graphs of other definitions out of its caches on the disk.

    Their keys know an op by its name only. A cached graph calls the gradient op that the definition had
    then, with the arguments of then.
    """
    schemas = sorted((op.name, op.schema) for op in backend.ops().values())
    digest = hashlib.sha256(repr(schemas).encode()).hexdigest()[:16]
    config: Any = torch.compiler.config
    config.cache_key_tag += f"{NAMESPACE}:{digest} "


def packet(op: str) -> Any:
    """Return all overloads of an op."""
    return getattr(getattr(_ops, NAMESPACE), op)


def overload(found: Any, name: str) -> tuple[Any, Callable[..., Any]]:
    """Return an overload, and what it called, whose errors have no class."""
    entry: Any = getattr(found, name)
    call = bare(entry)
    calls(entry, with_classes(call))
    return entry, call


def inner(found: Any, name: str, instead: Callable[..., Any]) -> tuple[Any, Callable[..., Any]]:
    """Return an overload without derivatives, and what it called: from now on it calls another one.

    Who gets hold of the overload itself, such as a tracer or a subclass of tensors, may want derivatives.
    Who calls what it called does not, so PyTorch need not look for a kernel for them.
    """
    entry: Any = getattr(found, name)
    call = bare(entry)
    calls(entry, instead)
    watch(entry, torch.library.fallthrough_kernel, ("Autograd", "ADInplaceOrView"))
    return entry, call


def watch(found: Any, kernel: Callable[..., Any], keys: tuple[str, ...]) -> None:
    """Have calls of an overload under some dispatch keys go elsewhere."""
    if found is not None:
        for key in keys:
            LIBRARY.impl(found.name(), kernel, key)


def with_classes(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose errors have their classes."""

    def calling(*args: Any, **named: Any) -> Any:
        try:
            return call(*args, **named)
        except RuntimeError as fault:
            backend.reraise(fault)
            raise

    return calling
