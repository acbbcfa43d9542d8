"""Numbers in the place of inputs without dims."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._dtypes import LONG_NAMES
from ._rules import as_bool, as_float, as_int, at_least, at_most, expected, number, required

if TYPE_CHECKING:
    from ._framework import Framework
    from ._memory import Memory
    from ._meta import Arg, Op

NUMBERS = {float, int, bool}
"""The types of numbers as the library takes them."""

_SYMBOLIC = {"SymFloat", "SymInt", "SymBool"}  # numbers that torch.compile does not know yet


class Number(NamedTuple):
    """A number of the type in which the library takes it, and its dtype."""

    value: Any
    dtype: str


def places(op: Op) -> tuple[tuple[int, Arg], ...]:
    """Return the inputs that may be numbers, with their places."""
    return tuple((i, a) for i, a in enumerate(op.inputs) if a.number)


def number_type(op: Op, arg: Arg) -> str:
    """Return the type in Python of a number in the place of an input: ``float``, ``int`` or ``bool``."""
    name = arg.type.partition("[")[0]
    dtype = op.dtypes[name][0] if name in op.dtypes else LONG_NAMES[name]
    if dtype == "bool":
        return dtype
    return "int" if dtype.startswith(("int", "uint")) else "float"


def is_number(value: Any) -> bool:
    """Whether a value is a number of Python or NumPy, or one that a compiler stands for."""
    return isinstance(value, numbers.Real) or type(value).__name__ in {*_SYMBOLIC, "bool_", "bool"}


def stand_ins(
    op: Op,
    fw: Framework,
    inputs: Sequence[Any],
    make: Callable[[Any, str], Any] = Number,
    narrowed: Callable[[str], str] = str,
) -> tuple[Any, ...]:
    """Return the inputs of a call with what is made of each number, of its value and its dtype.

    ``narrowed`` says which dtype a framework has for one.
    """
    out = list(inputs)
    numbered = [(i, arg) for i, arg in places(op) if is_number(inputs[i])]
    if numbered:  # what is missing is told first
        required(op.name, tuple((a.name, x) for a, x in zip(op.inputs, inputs) if not a.optional))
    for i, arg in numbered:
        dtype = narrowed(number_dtype(op, fw, inputs, arg))
        out[i] = make(checked(op.name, arg, inputs[i], dtype), dtype)
    return tuple(out)


def number_dtype(op: Op, fw: Framework, inputs: Sequence[Any], arg: Arg) -> str:
    """Return the dtype of a number: the input's own, or that of an array with the same variable."""
    allowed = op.dtypes.get(arg.type.partition("[")[0], ())
    if not allowed:
        return arg.number
    for a, x in zip(op.inputs, inputs):
        gives = a.name == arg.number or (a.number and a.type == arg.type)
        items: Any = x
        first = items[0] if a.list and isinstance(x, (list, tuple)) and items else items
        if gives and fw.is_array(first) and not is_number(first):
            found = fw.dtype(first)
            return found if found in allowed else allowed[0]  # another is refused with its array
    return allowed[0]


def checked(op: str, arg: Arg, value: Any, dtype: str) -> Any:
    """Return a number as the library takes it, if it has the type and the range of an input."""
    if dtype == "bool":
        return as_bool(op, arg.name, value)
    if not dtype.startswith(("int", "uint")):
        found: Any = as_float(op, arg.name, value)
    else:
        # torch.compile takes an integer for a constant once it is asked for its index.
        found = value if type(value) is int else as_int(op, arg.name, value)
        if not -(2**63) <= found < 2**63:
            raise expected(ValueError, op, arg.name, "an integer of 64 bits", "a larger one")
        signed, bits = dtype.startswith("int"), int(dtype.lstrip("uint"))
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        _within(op, arg.name, found, low, high)
    _within(op, arg.name, found, *arg.bounds)
    return found


def _within(op: str, name: str, value: Any, low: Any, high: Any) -> None:
    if type(value).__name__ in _SYMBOLIC:
        return
    if low is not None and not value >= low:
        raise at_least(op, name, number(low), value)
    if high is not None and not value <= high:
        raise at_most(op, name, number(high), value)


class View:
    """A framework's view of arrays where some are numbers, which are wherever the first array is."""

    def __init__(self, fw: Framework, first: Any) -> None:
        self._fw, self._first = fw, first
        self.array = fw.array

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fw, name)

    def is_array(self, value: Any) -> bool:
        """Whether value is an array or stands for one."""
        return isinstance(value, Number) or self._fw.is_array(value)

    def shape(self, value: Any) -> tuple[int, ...]:
        """Shape of an array."""
        return () if isinstance(value, Number) else self._fw.shape(value)

    def dtype(self, value: Any) -> str:
        """Long dtype name of an array."""
        return value.dtype if isinstance(value, Number) else self._fw.dtype(value)

    def device(self, value: Any) -> str:
        """Device of an array."""
        return self._fw.device(self._first if isinstance(value, Number) else value)

    def memory(self, value: Any) -> Memory | None:
        """Where the elements of an array lie."""
        return None if isinstance(value, Number) else self._fw.memory(value)
