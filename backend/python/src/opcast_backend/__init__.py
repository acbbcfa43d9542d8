"""The shared library of a collection of ops, and what it knows about them.

The adaptor packages for the frameworks call the functions of this library. It is loaded once, on
import, and refuses to serve an adaptor that was generated from other definitions than the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from . import _explain, _variants
from . import _memory as _written
from ._dtypes import dtype_name
from ._eager import EagerOp
from ._faults import again, faithful, reraise
from ._find import library
from ._gen.ops import LONG_NAMES, OPS, OpKind, __version__
from ._globals import objects, register_globals
from ._kernels import devices, find, kernels, on_switch, refuse_device, use_kernel
from ._leading import leading, own_ranks, spread_axes
from ._library import function, library_path, retype
from ._lists import call as call_lists
from ._lists import checker, flat, form, grouped, lengths, single
from ._loading import opened, require_version
from ._meta import Arg, Attr, Op, as_tuple, deprecated, publish
from ._numbers import NUMBERS, is_number, number_dtype, number_type, places, stand_ins
from ._op_call import op_call
from ._register import RegisteredKernel, register_kernel
from ._slow import register_references
from ._threads import get_num_threads, limit_threads, set_num_threads
from ._views import ArraySpec

if TYPE_CHECKING:
    from ._gen import checks as checks
else:

    def __getattr__(name: str) -> Any:
        if name == "checks":
            return _variants.checks()
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


__all__ = [
    "LONG_NAMES",
    "NUMBERS",
    "Arg",
    "ArraySpec",
    "Attr",
    "EagerOp",
    "Memory",
    "Op",
    "OpKind",
    "RegisteredKernel",
    "__version__",
    "again",
    "as_tuple",
    "call_lists",
    "check_layout",
    "checker",
    "checks",
    "deprecated",
    "devices",
    "dtype_name",
    "explain",
    "faithful",
    "flat",
    "form",
    "function",
    "get_num_threads",
    "grouped",
    "is_number",
    "kernels",
    "leading",
    "lengths",
    "library",
    "library_path",
    "limit_threads",
    "number_dtype",
    "number_type",
    "objects",
    "on_switch",
    "op_call",
    "opened",
    "ops",
    "own_ranks",
    "places",
    "publish",
    "refuse_device",
    "register_globals",
    "register_kernel",
    "require_version",
    "reraise",
    "retype",
    "set_num_threads",
    "single",
    "spread_axes",
    "stand_ins",
    "use_kernel",
]

Memory = _written.Memory
check_layout = _written.check_layout


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
        Arguments of a call, in any framework; the text then says which of them would be copied, and
        which kernels would take the call, or why not. No memory is read.

    """
    return _explain.describe(find(op), args, attrs)


for _op in OPS.values():
    function(_op.name, _op.schema)
register_references()
