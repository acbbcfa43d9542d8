"""What can be said about a call without making it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._framework import Memory
from ._kernels import registered
from ._lists import flat, lengths, single
from ._memory import fits
from ._numbers import is_number
from ._rules import one_of
from ._variants import variants

if TYPE_CHECKING:
    from ._meta import Arg, Op


def describe(op: Op, args: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Say how an op is called and what it does under transformations.

    With arguments of a call, in any framework, the text says which of them are copied.
    """
    form, spread, attrs = _single(op, *_placed(op, args, named))
    given = _bind(form, spread, attrs)
    facts = dict(op.facts)
    if given:
        facts["copies"] = _copies(form, given)
    kernels = [("kernel", text) for text in _kernels(form, given, attrs)]
    arrays = [(a.name, a.type, ", ".join(_notes(op, a))) for a in op.inputs + op.outputs]
    dtypes = [(name, one_of(names)) for name, names in op.dtypes.items()]
    topics = [*facts.items(), *kernels, ("definition", op.file)]
    return "\n".join([op.call, op.doc, "", *_table([*arrays, *dtypes]), "", *_table(topics)])


def _placed(
    op: Op, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of an op by name if its parameters have an order of their own."""
    if not op.order:
        return args, named
    if len(args) > len(op.order):
        raise TypeError(f"{op.name}: expected at most {len(op.order)} arguments, got {len(args)}")
    given = dict(zip(op.order, args))
    for name in given:
        if name in named:
            raise TypeError(f"{op.name}: unexpected argument '{name}'")
    return (), {**given, **named}


def _single(
    op: Op, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Op, tuple[Any, ...], dict[str, Any]]:
    """Return the form of an op for the lists of a call, and its arguments; both as they are without."""
    inputs = [*args, *(named.get(a.name) for a in op.inputs[len(args) :])]
    counts = lengths(op, inputs)
    if len(args) > len(op.inputs) or any(a.name in named for a in op.inputs[: len(args)]):
        return op, args, named  # which is wrong, as will be said
    if 0 in counts:  # of lists that are not given, nothing is known
        known = {a.name: x for a, x in zip(op.inputs, inputs) if x is not None and not a.list}
        return op, (), {**{k: v for k, v in named.items() if k not in op.lists}, **known}
    if not counts:
        return op, args, named
    arrays = {a.name for a in op.inputs}
    return single(op, counts), flat(op, inputs), {k: v for k, v in named.items() if k not in arrays}


def _kernels(op: Op, given: dict[str, Any], named: dict[str, Any]) -> list[str]:
    """Describe the kernels, and what they say about a call whose arguments are all there."""
    missing = [a.name for a in op.inputs if not (a.optional or a.name in given)]
    missing += [a.name for a in op.attrs if a.required and a.name not in named]
    if not missing:
        answers = variants(op, given, named)
        return [f"{v.name}{v.params} on {v.device}: {v.reason or 'yes'}" for v in answers]
    own = [(name, device) for of, name, device in reversed(registered) if of == op.name]
    return [f"{name} on {device}" for name, device in [*own, *(k[:2] for k in op.kernels)]]


def _bind(op: Op, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays that are given, by name."""
    names = [a.name for a in op.inputs]
    if len(args) > len(names):
        raise TypeError(f"{op.name}: expected at most {len(names)} arrays, got {len(args)}")
    given = dict(zip(names, args))
    attrs = {a.name for a in op.attrs}
    for name, value in named.items():
        if name in given or name not in {*names, *attrs}:
            raise TypeError(f"{op.name}: unexpected argument '{name}'")
        if name not in attrs:
            given[name] = value
    numbers = {a.name for a in op.inputs if a.number}
    for name, value in given.items():
        if name in numbers and is_number(value):
            continue
        if value is not None and not (hasattr(value, "shape") and hasattr(value, "dtype")):
            raise TypeError(f"{op.name}: {name}: expected an array, got {type(value).__name__}")
    return {name: value for name, value in given.items() if value is not None}


def _notes(op: Op, arg: Arg) -> Iterable[str]:
    if arg.list or arg.per:
        yield f"a list as long as {arg.per}" if arg.per else "a list"
    if arg.optional:
        yield "optional"
    if arg.mutated:
        yield "overwritten"
    if arg.saved:
        yield "saved for the gradient"
    if arg.present_if:
        flag = any(a.name == arg.present_if for a in op.attrs)
        yield f"{'if' if flag else 'with'} {arg.present_if}"
    if arg.packs:
        yield f"packs {arg.packs}"


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Align the cells of rows; the last cell of a row has no width."""
    rows = list(rows)
    width: dict[int, int] = {}
    for row in rows:
        for i, cell in enumerate(row[:-1]):
            width[i] = max(width.get(i, 0), len(cell) + 2)
    lines = ["".join(c.ljust(width[i]) for i, c in enumerate(r[:-1])) + r[-1] for r in rows]
    return [line.rstrip() for line in lines]


def _copies(op: Op, given: dict[str, Any]) -> str:
    """Say which arrays the kernel gets as copies; those that it overwrites never are."""
    arrays = [(a, given[a.name]) for a in op.inputs if a.name in given and not a.mutated]
    reasons = [(arg.name, _reason(arg, value)) for arg, value in arrays]
    return ", ".join(f"{name} ({reason})" for name, reason in reasons if reason) or "none"


def _reason(arg: Arg, value: Any) -> str:
    """Say why an array is copied; empty if it is not."""
    if arg.number and is_number(value):
        return ""
    for kind, word in (("conj", "conjugated"), ("neg", "negated")):
        if getattr(value, f"is_{kind}", bool)():
            return f"it is a lazily {word} view"
    if not getattr(value.dtype, "isnative", True):
        return "its byte order is not native"
    if not getattr(getattr(value, "flags", None), "aligned", True):
        return "it is not aligned"
    memory = _memory(value)
    if memory is None:
        return ""
    if not fits(memory, arg.stride):
        return "its last dimension is not contiguous" if arg.stride else "it is not contiguous"
    if arg.align > 1 and _address(value) % arg.align:
        return f"its address is no multiple of {arg.align}"
    return ""


def _address(value: Any) -> int:
    """Return where an array begins."""
    if hasattr(value, "untyped_storage"):  # that of a fake tensor has no memory, and no address
        return 0 if value.untyped_storage().device.type == "meta" else value.data_ptr()
    if hasattr(value, "data_ptr"):
        return value.data_ptr()
    told = getattr(value, "__array_interface__", None) or value.__cuda_array_interface__
    return told["data"][0]


def _memory(value: Any) -> Memory | None:
    """Return how an array lies, as PyTorch or as NumPy and CuPy tell it; JAX's are always dense."""
    shape, stride = tuple(value.shape), getattr(value, "stride", None)
    if callable(stride):
        steps: Any = stride()
        return Memory(0, 1, shape, tuple(steps))
    strides = getattr(value, "strides", None)
    return None if strides is None else Memory(0, value.itemsize, shape, tuple(strides))
