"""The shared library of a collection of ops, and what it knows about them.

The adaptor packages for the frameworks call the functions of this library. It is loaded once, on
import, and refuses to serve an adaptor that was generated from other definitions than the library.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import tvm_ffi

from . import _checks as checks
from . import _explain
from . import _memory as _written
from ._meta import Arg, Attr, Op, as_tuple, publish, refuse_device
from ._ops import OPS, OpKind, __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

__all__ = [
    "Arg",
    "Attr",
    "Memory",
    "Op",
    "OpKind",
    "__version__",
    "as_tuple",
    "check_layout",
    "checks",
    "explain",
    "function",
    "kernels",
    "library_path",
    "on_switch",
    "ops",
    "publish",
    "refuse_device",
    "retype",
    "use_kernel",
]

_tvm_ffi: Any = tvm_ffi  # partly untyped
Memory = _written.Memory
check_layout = _written.check_layout
_NAME = __name__.removesuffix("_backend")


def library_path() -> Path:
    """Return the path of the shared library that holds the kernels."""
    return Path(__file__).with_name("lib") / f"lib{_NAME}.so"


def _load() -> Any:
    path = library_path()
    if not path.is_file():
        raise ImportError(
            f"{__name__}: {path} is missing: run `opcast build` in the project or install a wheel"
        )
    # Not among the kinds of error that tvm-ffi knows: it would arrive as RuntimeError.
    _tvm_ffi.register_error("NotImplementedError", NotImplementedError)
    return _tvm_ffi.load_module(str(path))


_module = _load()
retype = _module["_opcast_retype"]


def function(op: str, schema: int) -> Any:
    """Return the exported function of an op, if the library was built from the given schema."""
    try:
        found = _module["_opcast_schema"](op)
    except KeyError:  # the library has no such op
        found = None
    if found != schema:
        raise ImportError(
            f"{op}: this package and {library_path()} come from different definitions:"
            " run `opcast build` again"
        )
    return _module[op]


def _find(op: str) -> Op:
    if op not in OPS:
        raise ValueError(f"{op}: expected an op of {_NAME}, got an unknown name")
    return OPS[op]


def ops() -> Mapping[str, Op]:
    """Return the ops of the collection by name."""
    return MappingProxyType(OPS)


def explain(op: str, /, *args: Any, **attrs: Any) -> str:
    """Say how an op is called, and what it does under gradients, vmap and sharding.

    Parameters
    ----------
    op
        Name of the op.
    args, attrs
        Arguments of a call, in any framework; the text then says which of them would be copied.

    """
    return _explain.describe(_find(op), args, attrs)


def kernels(op: str) -> tuple[str, ...]:
    """Return the names of the op's kernels, in the order in which dispatch tries them."""
    return tuple(_module["_opcast_kernels"](_find(op).name).split(","))


_switch = threading.Lock()
_forced: dict[str, list[str]] = {}
_barriers: list[Callable[[], None]] = []


def on_switch(wait: Callable[[], None]) -> None:
    """Have ``use_kernel`` wait for a framework's pending calls before each change."""
    _barriers.append(wait)


@contextlib.contextmanager
def use_kernel(op: str, name: str) -> Generator[None]:
    """Force one kernel of an op, in every thread of the process, until the block ends.

    Calls that are pending when the block begins or ends finish first. Blocks nest; among threads,
    the block that was entered last decides.

    Parameters
    ----------
    op
        Name of the op.
    name
        One of ``kernels(op)``.

    """
    if name not in kernels(op):
        raise ValueError(f"{op}: expected one of the kernels {', '.join(kernels(op))}, got {name}")
    stack = _forced.setdefault(op, [])
    _change(op, lambda: stack.append(name))
    try:
        yield
    finally:
        _change(op, lambda: _remove_last(stack, name))


def _remove_last(stack: list[str], name: str) -> None:
    del stack[len(stack) - 1 - stack[::-1].index(name)]


def _change(op: str, edit: Callable[[], None]) -> None:
    with _switch:
        for wait in _barriers:
            wait()
        edit()
        _module["_opcast_force"](op, _forced[op][-1] if _forced[op] else "")


for _op in OPS.values():
    function(_op.name, _op.schema)
