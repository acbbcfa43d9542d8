"""Holds the results of a peer against ours, so that nobody times two different things."""

from __future__ import annotations

from typing import Any

import torch

_CLOSE = 0.05  # of all results, as a vector: formulas of 16 bits round in many places


def check(peer: Any, ours: Any) -> None:
    """Raise an error where results are not about equal."""
    for i, (theirs, own) in enumerate(zip(_tensors(peer), _tensors(ours))):
        if theirs.shape != own.shape or theirs.dtype != own.dtype:
            found = f"{theirs.dtype} {tuple(theirs.shape)}"
            raise ValueError(f"result {i} is {found}, ours {own.dtype} {tuple(own.shape)}")
        off, length = _length(theirs.double() - own.double()), _length(own)
        if not off <= _CLOSE * length:
            raise ValueError(f"result {i} is {off / length:.1%} off")


def _length(x: Any) -> float:
    return x.double().norm().item()


def _tensors(results: Any) -> list[torch.Tensor]:
    """Return results of any framework as tensors."""
    if isinstance(results, (tuple, list)):
        several: list[Any] = list(results)  # pyright: ignore[reportUnknownArgumentType]
        return [x for result in several for x in _tensors(result)]
    if results is None:
        return []
    return [results if isinstance(results, torch.Tensor) else torch.from_dlpack(results)]
