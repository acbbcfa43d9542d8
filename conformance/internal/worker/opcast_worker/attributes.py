"""Attributes that no kernel takes, in every framework alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Protocol

from opcast_worker.bound import REFUSED, Bound, Request, Unsupported


class Reader(Protocol):
    """What these probes need of the caller."""

    backend: Any
    """The backend of the collection; None where functions or a bare library are tested."""

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe an array and return its elements."""
        ...


class Like:
    """No dtype, but something that has one, as arrays do."""

    def __init__(self, dtype: Any) -> None:
        """Keep the dtype."""
        self.dtype = dtype


class Equal:
    """Equal to a value, and of its hash, but of no type that an attribute may have."""

    def __init__(self, value: Any) -> None:
        """Keep the value."""
        self.value = value

    def __eq__(self, other: object) -> bool:
        """Whether the value equals another."""
        return self.value == (other.value if isinstance(other, Equal) else other)

    def __hash__(self) -> int:
        """Return the value's hash."""
        return hash(self.value)


def huge(call: Bound) -> Any:
    """Give one number after the other that no 64 bits hold: what the backend cannot take is refused before."""
    numbers = {n: d for n, d in defaults(call.function).items() if type(d) in {int, float}}
    if not numbers:
        raise Unsupported("no attribute with a number as its default")
    for name, default in numbers.items():
        value, what = (1 << 70, "an integer") if isinstance(default, int) else (10**400, "a number")
        want = f"{call.op}: {name}: expected {what} of 64 bits, got a larger one"
        refused(call, name, value, ValueError, want)
    return call()


def dtype_like(caller: Reader, call: Bound) -> Any:
    """Give an array's dtype by something that has it, and by what equals it: only a dtype is one."""
    known = defaults(call.function)
    names: list[str] = [
        a.name for a in declared(caller, call) if a.type == "dtype" and a.name in known
    ]
    if not names:
        raise Unsupported("no attribute with a dtype")
    array = call.arrays()[0]
    for name in names:
        value: Any = caller.read(array)[0]["dtype"]
        if not accepted(call, name, value):  # by its name
            value = array.dtype
        elif not accepted(call, name, call.options["short"][value]):
            raise AssertionError(f"{name} = {call.options['short'][value]!r} was refused")
        for other in (Like(array.dtype), Equal(value)):
            want = f"{call.op}: {name}: expected dtype "
            refused(call, name, other, TypeError, want, f", got {type(other).__name__}")
    return call()


def equal(caller: Reader, call: Bound) -> Any:
    """Give each attribute by a value, then by what only equals it: a program that is kept is not for both."""
    attrs = declared(caller, call)
    computed = {a.name: 0.5 for a in attrs if a.type == "float" and a.default is None}
    known = defaults(call.function)
    given = {n: call.kwargs.get(n, computed.get(n, d)) for n, d in known.items()}
    values = {n: v for n, v in given.items() if type(v) in {int, float, bool, str, tuple}}
    if not values:
        raise Unsupported("no attribute with a value of its own")
    for name, value in values.items():
        if not accepted(call, name, value):
            if name in computed:
                continue  # by its range
            raise AssertionError(f"{name} = {value!r} was refused, which is its own value")
        for other in (Equal(value), *spellings(value)):
            refused(call, name, other, TypeError, f"{call.op}: {name}: expected ")
    return call()


def declared(caller: Reader, call: Bound) -> list[Any]:
    """Return the attributes of an op as the backend tells them; none of a function that has no backend."""
    return caller.backend.ops()[call.op].attrs if caller.backend else []


def spellings(value: Any) -> list[Any]:
    """Return what stands for a value elsewhere, but is of another type."""
    if type(value) is float:
        return [value.hex()]
    if type(value) is not tuple or not value:
        return []
    items: list[Any] = [*value]
    flags = [tuple(map(bool, items))] if {*items} <= {0, 1} else []
    return [tuple(map(float, items)), *flags]


def accepted(call: Bound, name: str, value: object) -> bool:
    """Say whether a value of an attribute is taken; of copies, since some ops overwrite their arguments."""
    try:
        replace(call, args=deepcopy(call.args), kwargs={**call.kwargs, name: value})()
    except REFUSED:
        return False
    return True


def refused(
    call: Bound, name: str, value: object, kind: type[Exception], want: str, end: str = ""
) -> None:
    """Expect an error for one attribute: its class, and how it begins and ends."""
    try:
        replace(call, kwargs={**call.kwargs, name: value})()
    except REFUSED as error:
        text = str(error)
        if type(error) is not kind or not (text.startswith(want) and text.endswith(end)):
            got = f"{type(error).__name__}: {text}"
            raise AssertionError(f"want {kind.__name__}: {want}...{end}, got {got}") from error
    else:
        raise AssertionError(f"computed with {name} = {value!r}"[:200])


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a Python function with their defaults."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # an export of a library
        return {}
    return {p.name: p.default for p in parameters}
