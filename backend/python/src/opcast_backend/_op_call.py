"""op_call: any op by its kind, on arrays of any framework, written where they lie."""

from __future__ import annotations

import contextlib
import numbers
import operator
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from . import _arrays
from ._faults import faithful
from ._gen.ops import OPS, OpKind
from ._library import module
from ._lists import flat, lengths, single
from ._rules import expected, is_int, lists

if TYPE_CHECKING:
    from ._meta import Arg, Op

_function = faithful(module["_opcast_op_call"])
_KINDS = {OpKind, int, str}  # types of kinds that need no thought
_kinds: dict[Any, Op] = {**OPS, **{op.kind: op for op in OPS.values()}}


def op_call(
    kind: int | str,
    inputs: Sequence[Any],
    outputs: Sequence[Any] = (),
    attrs: Mapping[str, Any] | None = None,
    scratch: Sequence[Any] | None = None,
) -> None:
    """Call an op on arrays of any framework that knows DLPack; one call may mix frameworks.

    Nothing is copied, and nothing is allocated but scratch. Gradients and transformations do not
    see the call: it is for graphs and runtimes of your own.

    Parameters
    ----------
    kind
        One of ``OpKind``, or the name of an op.
    inputs
        In the order of the definition. Absent ones are None, or left out at the end. A list of
        arrays is a list here, too, among the outputs as well.
    outputs
        Arrays to write, likewise. Those that only the gradient needs come last.
    attrs
        Values by name. Those that are missing have their defaults.
    scratch
        Work space. What is missing is allocated: on the CPU by the library, on a GPU by PyTorch if
        the first output is one of its tensors.

    """
    op = _kinds.get(kind) if type(kind) in _KINDS else None
    op = op or _find(kind)
    given = [_sequence("inputs", inputs), _sequence("outputs", outputs)]
    given.append(_sequence("scratch", () if scratch is None else scratch))
    counted: list[Any] = []
    if op.lists:
        op, counted, given[:2] = _single(op, given[0], given[1])
    arrays = [x for role in given for x in role]
    writes = [a.mutated for a in op.inputs[: len(given[0])]]
    writes += [True] * (len(arrays) - len(writes))
    values = counted + [part for name, v in _items(attrs) for part in (name, _value(op, name, v))]
    counts = map(len, given)
    try:
        at = _arrays.stream(arrays, writes)
        if at is None:
            _function(op.kind, *counts, *_arrays.tensors(arrays, writes, at), *values)
        else:
            with at.enter():
                _function(op.kind, *counts, *_arrays.tensors(arrays, writes, at), *values)
    except _arrays.Refused as fault:
        name = _name(op, given, fault.place)
        text = f"{op.name}: {name}: expected {fault.expected}, got {fault.got}"
        raise fault.kind(text) from fault.__cause__
    _arrays.announce(arrays, writes)


def _single(op: Op, inputs: Any, outputs: Any) -> tuple[Op, list[Any], list[list[Any]]]:
    """Return the form of an op for single arrays, the lengths of its lists by name, and the arrays."""
    lists("arrays", op.name, tuple((a.name, x, "") for a, x in zip(op.inputs, inputs) if a.list))
    counts = lengths(op, inputs)
    one = single(op, counts + (1,) * (len(op.lists) - len(counts)))
    found = dict(zip(op.lists, counts))
    writes: list[Any] = []
    for a, y in zip(op.outputs, outputs):
        if a.per:
            _as_long(op, a, y, found.get(a.per, 0))
        writes += y if a.per else [y]
    reads = [*flat(op, inputs), *inputs[len(op.inputs) :]]
    named = [part for pair in found.items() for part in pair]
    return one, named, [reads, [*writes, *outputs[len(op.outputs) :]]]


def _as_long(op: Op, arg: Arg, value: Any, count: int) -> None:
    """Refuse what is no list of so many arrays."""
    items: Any = value
    if not isinstance(value, (list, tuple)) or len(items) != count:
        what = f"a list of {count} arrays (as {arg.per})"
        raise expected(TypeError, op.name, arg.name, what, type(items).__name__)


def _find(kind: Any) -> Op:
    """Return the op of a kind, which may be anything."""
    op = _kinds.get(operator.index(kind) if is_int(kind) else kind if type(kind) is str else None)
    if op is None:
        _function(kind, 0, 0, 0)  # says what is wrong
        raise LookupError(f"op_call: {kind} is not among the ops of this package")
    return op


def _name(op: Op, given: list[Sequence[Any]], place: int) -> str:
    """Return the name of one of the arrays, or its number if there are more than the op has."""
    names: list[str] = []
    for args, role in zip((op.inputs, op.outputs, op.scratch), given):
        known = [a.name for a in args[: len(role)]]
        names += known + [str(n) for n in range(len(known), len(role))]
    return names[place]


def _sequence(role: str, value: Any) -> Sequence[Any]:
    if isinstance(value, (list, tuple)):
        return cast("Sequence[Any]", value)
    raise TypeError(f"op_call: {role}: expected a list or tuple, got {type(value).__name__}")


def _items(attrs: Any) -> list[tuple[Any, Any]]:
    if attrs is None:
        return []
    if hasattr(attrs, "items"):
        return list(attrs.items())
    raise TypeError(f"op_call: attrs: expected a mapping, got {type(attrs).__name__}")


def _value(op: Op, name: Any, value: Any) -> Any:
    """Return an attribute as tvm-ffi knows it, where the types of some framework stand for it."""
    kind = next((a.type for a in op.attrs if a.name == name), "")
    if type(value).__name__ in {"bool_", "bool"}:
        return bool(value)
    if kind == "dtype":
        return _dtype(value)
    if (
        kind.startswith("int[")
        and hasattr(value, "__len__")
        and not isinstance(value, (str, bytes))
    ):
        return [operator.index(i) if is_int(i) else i for i in value]
    if kind == "float":
        return _float(value)
    return value


def _float(value: Any) -> Any:
    with contextlib.suppress(OverflowError):
        return float(value) if isinstance(value, numbers.Real) else value
    return value


def _dtype(value: Any) -> Any:
    """Return the name of a dtype of PyTorch, NumPy, JAX or ml_dtypes."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if numpy is not None and (isinstance(value, (type, numpy.dtype)) or hasattr(value, "dtype")):
        with contextlib.suppress(TypeError):
            return numpy.dtype(value).name
    return value
