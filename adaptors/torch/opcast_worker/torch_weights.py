"""Which results of an op have a gradient, the cotangents that weigh them, and calls with other values."""

from __future__ import annotations

from typing import Any


def smooth(x: Any) -> bool:
    """Say whether a tensor has a gradient: those of integers have none."""
    return x.is_floating_point() or x.is_complex()


def pairs(results: Any, cotangents: Any) -> list[tuple[Any, Any]]:
    """Return the results of floating point with their cotangents: integers have no gradient."""
    return [(r, c) for r, c in zip(results, cotangents) if c is not None and smooth(r)]


def weighted(results: Any, cotangents: list[Any], wanted: list[Any]) -> tuple[list[Any], ...]:
    """Return the arguments of torch.autograd.grad: results, what to differentiate by, cotangents."""
    chosen = pairs(results, cotangents)
    return [r for r, _ in chosen], wanted, [c for _, c in chosen]


def total(results: Any, cotangents: Any) -> Any:
    """Return the number whose gradient has the cotangents as those of the results."""
    return sum((r * c.conj()).sum().real for r, c in pairs(results, cotangents))


def replaced(values: list[Any], places: list[int], chosen: Any) -> list[Any]:
    """Return a copy of values with the chosen ones in their places."""
    values = [*values]
    for place, value in zip(places, chosen):
        values[place] = value
    return values
