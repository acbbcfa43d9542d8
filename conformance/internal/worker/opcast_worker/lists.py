"""Ops as the suite calls them: inputs by their place in the definition, and the arrays of lists one by one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from opcast_worker.bound import Request

Group = tuple[str, int]
"""An argument by name, and how many arrays it has; -1 for one that is no list."""


def grouped(groups: Iterable[Group], values: Iterable[Any]) -> list[Any]:
    """Return arguments with a list in the place of its arrays."""
    rest = iter(values)
    return [next(rest) if count < 0 else list(islice(rest, count)) for _, count in groups]


def spread(groups: Iterable[Group], values: Iterable[Any]) -> list[Any]:
    """Return results one by one; a list that is none, or of another length, stays what it is."""
    out: list[Any] = []
    for (_, count), value in zip(groups, values):
        whole = count >= 0 and isinstance(value, list) and len(value) == count  # pyright: ignore[reportUnknownArgumentType]
        out += value if whole else [value]
    return out


def leaves(result: Any) -> list[Any]:
    """Return the arrays of nested tuples and lists."""
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]  # pyright: ignore[reportUnknownVariableType]
    return [result]


def single(function: Callable[..., Any], lists: Request | None) -> Callable[..., Any]:
    """Return a function of single arrays for one that takes and returns lists."""
    if not lists:
        return function
    inputs: list[Group] = lists["inputs"]
    results: list[Group] = lists["results"]

    def call(*args: Any, **kwargs: Any) -> Any:
        names = [
            f"{name}[{i}]" if count >= 0 else name
            for name, count in inputs
            for i in range(max(count, 1))
        ]
        given = [*args, *(kwargs.pop(n) for n in names[len(args) :] if n in kwargs)]
        more = given[len(names) :]  # too many arguments
        given += [None] * (len(names) - len(given))
        result = function(*grouped(inputs, given), *more, **kwargs)
        values: Any = result
        values = values if isinstance(result, tuple) else (values,)
        made = spread(results, values)
        return made[0] if len(made) == 1 else tuple(made)

    return call


def inputs_first(function: Callable[..., Any], info: Any) -> Callable[..., Any]:
    """Return a function that takes the inputs in the op's order for one that takes them, and attributes, in another."""
    inputs = [a.name for a in info.inputs]
    parameters = inspect.signature(function).parameters.values()
    if [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD] == [*inputs]:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        surplus = args[len(inputs) :]
        return function(*surplus, **dict(zip(inputs, args)), **kwargs)

    return call
