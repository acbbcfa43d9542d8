"""The shared library of the collection: found, loaded once, and asked for its functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ._find import library
from ._loading import opened, place
from ._name import NAME
from ._tvm_ffi import tvm_ffi

DEVICES = {"cpu": 1, "cuda": 2, "rocm": 10}
"""DLPack's numbers of the kinds of devices that kernels may be for."""

_TYPES = {*range(1, 5), *range(7, 19)}
_MAX = 4096  # of devices of one kind; the library has the same limit


def no_device(kind: int, index: int) -> tuple[str, str] | None:
    """Return what is expected and what is wrong about the numbers of a device, if something is.

    tvm-ffi and the frameworks believe every number. That of the host does not matter.
    """
    if kind not in _TYPES:
        return "a device type of DLPack", str(kind)
    if kind != DEVICES["cpu"] and not 0 <= index < _MAX:
        return f"a device number from 0 to {_MAX - 1}", str(index)
    return None


_owner, _prebuilt = place(f"{NAME}_backend", f"lib{NAME}.so")
_path = library(_prebuilt)


def library_path() -> Path:
    """Return the path of the shared library that holds the kernels."""
    return _path


def _load() -> Any:
    # Not among the kinds of error that tvm-ffi knows: it would arrive as RuntimeError.
    tvm_ffi.register_error("NotImplementedError", NotImplementedError)
    # A signal may raise these where only tvm-ffi can catch them, and they are to end the program.
    # By these names, exceptions of registered kernels do not come: those travel as they are.
    tvm_ffi.register_error("builtins.KeyboardInterrupt", KeyboardInterrupt)
    tvm_ffi.register_error("builtins.SystemExit", SystemExit)
    return opened(_owner, _path, tvm_ffi.load_module, "__tvm_ffi__opcast_retype")


module = _load()
"""The library's exported functions, by name."""

retype = module["_opcast_retype"]


def told(name: str, *args: Any) -> Any:
    """Return what a function of the library says about itself, which it does in JSON."""
    text: str = module[name](*args)
    try:
        return json.loads(text)
    except ValueError:
        raise ImportError(
            f"this package and {library_path()} come from different versions of opcast:"
            " run `opcast build` again"
        ) from None


def function(op: str, schema: int) -> Any:
    """Return the exported function of an op, if the library was built from the given schema."""
    try:
        found = module["_opcast_schema"](op)
    except KeyError:  # the library has no such op
        found = None
    if found != schema:
        raise ImportError(
            f"{op}: this package and {library_path()} come from different definitions:"
            " run `opcast build` again"
        )
    return module[op]
