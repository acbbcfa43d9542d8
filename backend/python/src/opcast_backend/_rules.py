"""The rules on a call, in Python: texts of errors, and the few checks that need more than a comparison.

The generated ``_gen/checks.py`` holds the rules of each op in order and calls this module when one is broken. Everything is
expressed in shapes, dtype names and device names, so that one text serves every framework. The functions that build an
error return it, and the caller raises it: the traceback ends at the rule.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ._advice import kind, kind_in
from ._arithmetic import fit
from ._dtypes import dtype_name
from ._leading import together

if TYPE_CHECKING:
    from ._framework import Framework


def expected(kind: type[Exception], op: str, arg: str, what: str, got: str) -> Exception:
    """Build ``<op>: <arg>: expected <what>, got <got>``."""
    return kind(f"{op}: {arg}: expected {what}, got {got}")


def shape_text(shape: Sequence[int]) -> str:
    """Format a shape as ``[2, 3]``."""
    return "[" + ", ".join(str(n) for n in shape) + "]"


def required(op: str, args: tuple[tuple[str, Any], ...]) -> None:
    """Refuse a required array that is missing."""
    for name, value in args:
        if value is None:
            raise TypeError(f"{op}: missing required argument '{name}'")


def arrays(
    fw: Framework, op: str, args: tuple[tuple[str, Any], ...], numbers: tuple[Any, ...] = ()
) -> None:
    """Refuse what is neither an array nor absent; numbers has names and types where one would do, too."""
    for name, value in args:
        if value is not None and not fw.is_array(value):
            what = " or ".join([fw.array, *(kind for of, kind in numbers if of == name)])
            raise expected(TypeError, op, name, what, type(value).__name__)


def lists(word: str, op: str, args: tuple[tuple[str, Any, str], ...]) -> None:
    """Refuse what is no list of arrays, which are called word, and lists that are too short.

    Each argument has a name, a value, and a partner: an earlier list that has as many arrays, or "".
    """
    counts: dict[str, int] = {}
    for name, value, partner in args:
        if value is None:
            raise TypeError(f"{op}: missing required argument '{name}'")
        if not isinstance(value, (list, tuple)):
            raise expected(TypeError, op, name, f"a list of {word}", type(value).__name__)
        items: Any = value  # pyright: ignore[reportUnknownVariableType]
        counts[name] = len(items)
        want = counts.get(partner, 0)
        if not items or (want and len(items) != want):
            few = "1 array" if want == 1 else f"{want} arrays"
            what = f"{few} (as {partner})" if want and items else "at least 1 array"
            raise expected(ValueError, op, name, what, str(len(items)))


def elements(name: str, values: Sequence[Any], skip: int = -1) -> list[tuple[str, Any]]:
    """Return the arrays of a list with their names, such as ``xs[1]``; all but number skip."""
    named = list(zip(_numbered(name, len(values)), values))
    return named if skip < 0 else named[:skip] + named[skip + 1 :]


@cache  # optimisers call with hundreds of arrays, always as many
def _numbered(name: str, count: int) -> list[str]:
    return [f"{name}[{i}]" for i in range(count)]


def is_int(value: Any) -> bool:
    """Whether value is an integer; bools are not."""
    return type(value) is not bool and isinstance(value, numbers.Integral)


def as_float(op: str, name: str, value: Any) -> float:
    """Return value as a float; integers are widened, bools refused."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        if type(value).__name__ not in {"SymFloat", "SymInt"}:  # torch's symbolic scalars
            raise expected(TypeError, op, name, "float", kind(value))
        return value
    try:
        return float(value)
    except OverflowError:
        raise expected(ValueError, op, name, "a number of 64 bits", "a larger one") from None


def as_int(op: str, name: str, value: Any) -> int:
    """Return value as an int; bools and floats are refused."""
    if not is_int(value):
        if type(value).__name__ != "SymInt":
            raise expected(TypeError, op, name, "int", kind(value))
        return value
    return _int64(op, name, operator.index(value))


def _int64(op: str, name: str, value: int) -> int:
    """Return value if it fits the 64 bits that the backend has for it."""
    if -(2**63) <= value < 2**63:
        return value
    raise expected(ValueError, op, name, "an integer of 64 bits", "a larger one")


def as_bool(op: str, name: str, value: Any) -> bool:
    """Return value as a bool; NumPy's bools count, integers do not."""
    if isinstance(value, bool) or type(value).__name__ in {"bool_", "bool"}:
        return bool(value)
    raise expected(TypeError, op, name, "bool", kind(value))


def as_str(op: str, name: str, value: Any) -> str:
    """Return value if it is a string."""
    if isinstance(value, str):
        return value
    raise expected(TypeError, op, name, "str", type(value).__name__)


def as_ints(op: str, name: str, value: Any, n: int) -> tuple[int, ...]:
    """Return n integers; a single one is repeated."""
    what = "1 integer" if n == 1 else f"{n} integers"
    if is_int(value):
        return (_int64(op, name, operator.index(value)),) * n
    return _ints(op, name, what, value, n)


def as_any_ints(op: str, name: str, value: Any) -> tuple[int, ...]:
    """Return any number of integers."""
    return _ints(op, name, "integers", value)


def _ints(op: str, name: str, what: str, value: Any, n: int | None = None) -> tuple[int, ...]:
    """Return the integers of a sequence, which has n of them; what says so in errors."""
    if (
        isinstance(value, (str, bytes))
        or not hasattr(value, "__len__")
        or not hasattr(value, "__getitem__")
        or getattr(value, "shape", None) == ()
    ):
        raise expected(TypeError, op, name, what, kind(value))
    if n is not None and len(value) != n:
        raise expected(ValueError, op, name, what, str(len(value)))
    for item in value:
        if not is_int(item):
            raise expected(TypeError, op, name, what, kind_in(value, item))
    return tuple(_int64(op, name, operator.index(item)) for item in value)


def as_dtype(fw: Framework, op: str, name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return the long name of a dtype given by name, long or short, or as the framework's object."""
    long = dtype_name(fw, value)
    if long is None or long not in allowed:
        got = long or type(value).__name__
        raise expected(TypeError, op, name, "dtype " + one_of(allowed), got)
    return long


def one_of(names: Sequence[str]) -> str:
    """Join names as ``a, b or c``."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def number(value: float) -> str:
    """Format an attr's value as the backend does."""
    # torch.compile puts a text in the place of a float into an f-string, where the format is not for texts.
    return "{:g}".format(value) if isinstance(value, float) else str(value)  # noqa: UP032


def at_least(op: str, name: str, bound: str, value: float) -> Exception:
    """Build the error of a value below its range."""
    return expected(ValueError, op, name, f"at least {bound}", number(value))


def at_most(op: str, name: str, bound: str, value: float) -> Exception:
    """Build the error of a value above its range."""
    return expected(ValueError, op, name, f"at most {bound}", number(value))


def choice(op: str, name: str, allowed: tuple[str | int, ...], value: str | int) -> Exception:
    """Build the error of a string or an integer that is not among the allowed ones."""
    *words, got = (f"'{v}'" if isinstance(v, str) else str(v) for v in (*allowed, value))
    return expected(ValueError, op, name, "one of " + ", ".join(words), got)


def same_device(fw: Framework, op: str, name: str, value: Any, first_name: str, first: Any) -> None:
    """Refuse an array on another device than the first one."""
    want, got = fw.device(first), fw.device(value)
    if got != want:
        raise expected(ValueError, op, name, f"device {want} (as {first_name})", got)


def dtype_in(op: str, name: str, allowed: tuple[str, ...], got: str) -> Exception:
    """Build the error of a dtype that is not allowed."""
    return expected(TypeError, op, name, "dtype " + one_of(allowed), got)


def dtype_as(op: str, name: str, want: str, other: str, got: str) -> Exception:
    """Build the error of a dtype that differs from its partner's."""
    return expected(TypeError, op, name, f"dtype {want} (as {other})", got)


def rank(op: str, name: str, n: int, shape: Sequence[int], at_least: str = "") -> Exception:
    """Build the error of a wrong number of dimensions."""
    what = f"{at_least}{n} dimension" + ("" if n == 1 else "s")
    return expected(ValueError, op, name, what, "shape " + shape_text(shape))


def batch(op: str, name: str, want: Sequence[int], other: str, shape: Sequence[int]) -> Exception:
    """Build the error of leading dimensions that differ."""
    return expected(
        ValueError,
        op,
        name,
        f"leading dimensions {shape_text(want)} (as {other})",
        "shape " + shape_text(shape),
    )


def join(
    fw: Framework,
    op: str,
    arg: tuple[str, Sequence[int], Sequence[int]],
    batch: tuple[int, ...],
    before: tuple[tuple[str, Any, int], ...],
) -> tuple[int, ...]:
    """Broadcast leading dims with those of the inputs before.

    arg has a name, a shape and its leading dims; before has names, arrays and how many of their last
    dims are not leading ones.
    """
    name, shape, own = arg
    found = together(batch, own)
    for other, value, trailing in before:
        if value is None:
            continue
        full = fw.shape(value)
        first = tuple(full[: len(full) - trailing])
        if found is None and together(own, first) is None:
            what = f"leading dimensions that broadcast with {shape_text(first)}"
            got = "shape " + shape_text(shape)
            raise expected(ValueError, op, name, f"{what} (of {other})", got)
    return found or ()


def solve(
    op: str, name: str, shape: Sequence[int], dim: int, coef: int, const: int, form: str
) -> int:
    """Return the x with ``coef * x + const == shape[dim]``."""
    rest = fit(op, shape[dim] - const)
    if coef != 0 and rest % coef == 0 and rest // coef >= 0:
        return rest // coef
    what = f"dimension {dim % len(shape)} to be of the form {form}"
    raise expected(ValueError, op, name, what, "shape " + shape_text(shape))


def size(
    op: str, name: str, shape: Sequence[int], dim: int, want: int, why: tuple[Any, ...]
) -> Exception:
    """Build the error of a dimension that differs from its expression; why explains the symbols."""
    what = f"dimension {dim % len(shape)} to be {want}" + (f" ({because(why)})" if why else "")
    return expected(ValueError, op, name, what, "shape " + shape_text(shape))


def because(why: tuple[tuple[str, Any, str], ...]) -> str:
    """Explain names as ``C = 4 of x, stride = [2, 1]``."""
    return ", ".join(_origin(*w) for w in why)


def _origin(name: str, value: Any, of: str) -> str:
    items: Any = value
    shown = shape_text(items) if isinstance(value, tuple) else number(value)
    return f"{name} = {shown}" + (f" of {of}" if of else "")


def quoted(text: str) -> str:
    """Return text in quotes, as messages show strings."""
    return f"'{text}'"


def require(op: str, condition: str, why: tuple[Any, ...], hint: str = "") -> Exception:
    """Build the error of a broken condition; the hint says what to do about dtypes that break it."""
    after = f": {hint}" if hint else ""
    return ValueError(f"{op}: expected {condition}, got {because(why)}{after}")


def negative_size(op: str, what: str, form: str, value: int) -> Exception:
    """Build the error of a negative dimension of an output or of scratch."""
    return ValueError(f"{op}: {what} would have a negative dimension: {form} = {value}")
