"""Arithmetic of sizes: what has no value in 64 bits becomes an error of the op."""

from __future__ import annotations

from collections.abc import Sequence


def fit(op: str, value: int) -> int:
    """Return a size if it fits the 64 bits that the backend has for it; symbolic ones are left alone."""
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise ValueError(f"{op}: a size does not fit in 64 bits")
    return value


def _divisor(op: str, value: int) -> int:
    if value == 0:
        raise ValueError(f"{op}: division by zero in a size")
    return value


def floordiv(op: str, a: int, b: int) -> int:
    """Divide, rounding down."""
    return fit(op, a // _divisor(op, b))


def ceildiv(op: str, a: int, b: int) -> int:
    """Divide, rounding up."""
    return fit(op, -(-a // _divisor(op, b)))


def mod(op: str, a: int, b: int) -> int:
    """Return the remainder of the division that rounds down."""
    return a % _divisor(op, b)


def power(op: str, base: int, exponent: int) -> int:
    """Raise to a power; what certainly does not fit is not computed."""
    if exponent < 0:
        raise ValueError(f"{op}: a size is not an integer")
    if type(exponent) is int and exponent > 64 and base in {-1, 0, 1}:
        exponent = 64 - exponent % 2
    return fit(op, base ** min(exponent, 64))


def total(op: str, items: Sequence[int]) -> int:
    """Add up a list of integers."""
    result = 0
    for item in items:
        result = fit(op, result + item)
    return result
