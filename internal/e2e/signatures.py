"""What people see of an op in help and in editors."""

import inspect
import pydoc
from importlib import import_module
from typing import Any, get_type_hints

ARRAYS = {"torch": "Tensor", "jax": "Array", "numpy": "ndarray"}

for framework, array in ARRAYS.items():
    ops: Any = import_module(f"opcast_{framework}")
    out = "" if framework == "jax" else f", out: {array} | None = None"
    wanted = (
        f"(a: {array}, b: {array}, bias: {array} | None = None, *, alpha: float = 1.0, "
        f"activation: str = 'none', out_dtype: Any = None{out}) -> {array}"
    )
    shown = str(inspect.signature(ops.gemm))
    assert shown == wanted, f"{framework}: {shown}"
    assert f"gemm{wanted}" in pydoc.plain(pydoc.render_doc(ops.gemm)), framework
    assert get_type_hints(ops.gemm)["alpha"] is float, "hints are those of the source"
print("ok")
