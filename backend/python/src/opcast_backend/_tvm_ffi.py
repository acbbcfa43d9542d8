"""tvm-ffi, imported without what it can do without.

On import, tvm-ffi looks for PyTorch and for NVIDIA's bindings, and imports them where they are installed: seconds that
users of NumPy and JAX would pay for nothing. The library needs neither. Tensors of PyTorch carry what tvm-ffi reads, and
streams are passed as numbers. So both are out of its sight, unless they were imported before.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Generator
from importlib import import_module
from typing import Any

__all__ = ["tvm_ffi"]

_UNSEEN = ("torch", "cuda.bindings")
_OLDEST = (0, 1, 13)  # older ones do not hand the exception of a registered kernel to its caller


class _Unseen:
    """Tells one thread that some modules are not installed; another one may be importing them meanwhile."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        """Leave every other module to the finders that come next."""
        if name in _UNSEEN and threading.get_ident() == self.thread:
            raise ModuleNotFoundError(f"{name} is not wanted here", name=name)


@contextlib.contextmanager
def unseen() -> Generator[None]:
    """Keep this thread from importing optional parts of tvm-ffi; what is imported already stays."""
    finder: Any = _Unseen()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _import() -> Any:
    try:
        with unseen():
            module = import_module("tvm_ffi")
    except ModuleNotFoundError as error:
        if error.name != "tvm_ffi":
            raise
        raise _lacking("is not installed", error.name) from None
    except (OSError, RuntimeError) as error:  # its own library
        raise _lacking(f"cannot be used: {error}") from None
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", str(getattr(module, "__version__", "")))
    if found and tuple(map(int, found.groups())) < _OLDEST:
        raise _lacking(f"is version {found[0]}")
    return module


def _lacking(why: str, name: str | None = None) -> ImportError:
    oldest = ".".join(map(str, _OLDEST))
    kind = ImportError if name is None else ModuleNotFoundError
    text = f"{__package__} needs apache-tvm-ffi of version {oldest} or later, which {why}: "
    return kind(text + f"run `pip install 'apache-tvm-ffi>={oldest},<0.2'`", name=name)


tvm_ffi: Any = _import()
"""The module."""
