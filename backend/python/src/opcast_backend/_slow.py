"""The references of the ops as kernels for the CPU, in a collection that has no others there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ._kernels import find
from ._register import add
from ._views import FRAMEWORKS

if TYPE_CHECKING:
    from ._meta import Op


class Reference(NamedTuple):
    """What an op computes, as its definition says it."""

    text: Any
    """The function of NumPy, inputs, attributes and lets; or the module with ``reference``."""
    lets: Callable[..., dict[str, Any]] | None
    """Computes the lets from the inputs and attributes; None if there are none."""


def register_references() -> None:
    """Register the references that were generated, if the collection has no kernels for the CPU."""
    if find_spec(f"{__package__}._gen.references") is None:
        return
    table: dict[str, Reference] = import_module("._gen.references", __package__).REFERENCES
    for name, reference in table.items():
        op = find(name)
        make = FRAMEWORKS["numpy"]  # imported with the first call: not everybody has it
        add(op, _kernel(op, reference), "reference", "cpu", None, make, slow=True)


def _kernel(op: Op, reference: Reference) -> Callable[..., None]:
    outputs = len(op.outputs)
    mutated = [i for i, a in enumerate(op.inputs) if a.mutated]

    def kernel(*arrays: Any, **attrs: Any) -> None:
        xp = import_module("numpy")
        inputs = arrays[outputs:]
        values: dict[str, Any] = {a.name: _widen(x) for a, x in zip(op.inputs, inputs)}
        for a in op.attrs:  # a dtype is that of the output, and means nothing in float64
            values[a.name] = str(arrays[0].dtype) if a.type == "dtype" else attrs[a.name]
        if reference.lets is not None:
            values.update(reference.lets(*values.values()))
        with xp.errstate(all="ignore"):
            made = _function(reference, xp, values)
        targets = [*arrays[:outputs], *(inputs[i] for i in mutated)]
        results = cast("tuple[Any, ...]", made) if isinstance(made, tuple) else (made,)
        for target, result in zip(targets, results):
            _write(xp, target, result)

    return kernel


def _write(xp: Any, target: Any, result: Any) -> None:
    """Write a result, or those of a list; nobody wants what has no target."""
    if isinstance(target, list):
        for to, one in zip(cast("list[Any]", target), result):
            _write(xp, to, one)
    elif target is not None:
        target[...] = xp.asarray(result).astype(target.dtype)


def _widen(array: Any) -> Any:
    """Return numbers in float64; integers as they are, but apart from what may be overwritten."""
    if array is None:
        return None
    if isinstance(array, list):
        return [_widen(one) for one in array]  # pyright: ignore[reportUnknownVariableType]
    return array.copy() if array.dtype.kind in "iub" else array.astype("float64")


def _function(reference: Reference, xp: Any, values: dict[str, Any]) -> Any:
    """Evaluate the reference on the arguments that it names."""
    function = reference.text
    if callable(function):
        return function(xp, **values)
    function.xp = xp
    wanted = inspect.signature(function.reference).parameters
    given = {k: v for k, v in values.items() if k in wanted}
    if "torch" not in wanted:
        return function.reference(**given)
    torch = import_module("torch")
    tensors = {k: torch.from_numpy(v) if hasattr(v, "dtype") else v for k, v in given.items()}
    made = function.reference(torch=torch, **tensors)
    made = cast("tuple[Any, ...]", made) if isinstance(made, tuple) else (made,)
    return tuple(None if m is None else m.double().numpy() for m in made)
