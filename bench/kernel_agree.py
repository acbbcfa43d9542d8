"""Holds the results of a peer against ours, so that nobody times two different things."""

from __future__ import annotations

from typing import Any

import torch

_CLOSE = 0.05  # of the largest result: 16-bit formulas round in many places


def check(peer: Any, ours: Any) -> None:
    """Raise an error where results are not about equal."""
    for i, (theirs, own) in enumerate(zip(_tensors(peer), _tensors(ours))):
        if theirs.shape != own.shape or theirs.dtype != own.dtype:
            found = f"{theirs.dtype} {tuple(theirs.shape)}"
            raise ValueError(f"result {i} is {found}, ours {own.dtype} {tuple(own.shape)}")
        off = (theirs.float() - own.float()).abs().max().item()
        most = own.float().abs().max().item()
        if not off <= _CLOSE * most:
            raise ValueError(f"result {i} is up to {off:.3g} off, of {most:.3g}")


def _tensors(results: Any) -> list[torch.Tensor]:
    """Return results of any framework as tensors."""
    if isinstance(results, (tuple, list)):
        several: list[Any] = list(results)  # pyright: ignore[reportUnknownArgumentType]
        return [x for result in several for x in _tensors(result)]
    if results is None:
        return []
    return [results if isinstance(results, torch.Tensor) else torch.from_dlpack(results)]
