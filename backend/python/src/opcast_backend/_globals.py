"""The ops as functions and objects of tvm-ffi, which every language that it binds finds by name."""

from __future__ import annotations

from typing import Any

from ._gen.ops import OPS
from ._library import module
from ._tvm_ffi import tvm_ffi


def objects() -> list[Any]:
    """Return the ops as objects of tvm-ffi.

    Their type, ``NAME.<build>.Op``, and that of their kernels are registered with the first call. An
    op has the fields ``name``, ``kind``, ``schema``, ``calls`` and ``kernels``, a kernel ``op``,
    ``name`` and ``device``. Both have the method ``explain``, which takes the arguments of the op's
    export: a kernel's returns ``yes`` or the reason for no, an op's what all its kernels say, in
    JSON. An op also has ``call``.

    """
    return list(module["_opcast_objects"]())


def register_globals(prefix: str) -> None:
    """Register every op as the global function ``<prefix>.<op>`` of tvm-ffi.

    ``<prefix>.op_call`` calls any op by its kind, ``<prefix>.ops`` returns the ops as objects. Global
    names belong to the process: nothing is registered if one of them is taken.

    Parameters
    ----------
    prefix
        What the names begin with. ``tvm_ffi.init_ffi_api(prefix, module)`` mounts them in a module.

    """
    functions = {op: module[op] for op in OPS}
    functions |= {"op_call": module["_opcast_op_call"], "ops": module["_opcast_objects"]}
    for name in functions:
        if tvm_ffi.get_global_func(f"{prefix}.{name}", allow_missing=True) is not None:
            raise ValueError(
                f"register_globals: prefix: expected one whose names are free, got '{prefix}':"
                f" {prefix}.{name} is registered already"
            )
    for name, function in functions.items():
        tvm_ffi.register_global_func(f"{prefix}.{name}", function)
