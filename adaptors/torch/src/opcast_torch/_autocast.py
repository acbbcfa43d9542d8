"""Autocast: where dtypes of one variable differ, all become the widest."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._state import native


def widen(info: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs, those that share a dtype variable in the widest of their dtypes.

    An overwritten input keeps its dtype, since a copy of it would be overwritten instead.
    """
    kinds = [a.type.partition("[")[0] for a in info.inputs]
    casts: dict[str, torch.dtype] = {}
    for kind in info.dtypes:
        dtypes = [x.dtype for k, x in zip(kinds, inputs) if k == kind and isinstance(x, Tensor)]
        if len(set(dtypes)) > 1 and all(d.is_floating_point and d.itemsize > 1 for d in dtypes):
            casts[kind] = dtypes[0]
            for dtype in dtypes[1:]:
                casts[kind] = torch.promote_types(casts[kind], dtype)
    return tuple(
        x.to(casts[k]) if k in casts and isinstance(x, Tensor) and not a.mutated else x
        for a, k, x in zip(info.inputs, kinds, inputs)
    )


def active(inputs: tuple[Any, ...]) -> bool:
    """Whether autocast is on for the device of the inputs."""
    kind = inputs[0].device.type if isinstance(inputs[0], Tensor) else ""
    return kind in {"cpu", "cuda"} and torch.is_autocast_enabled(kind)


def kernel(overload: Any, key: str) -> Any:
    """Return what a registered op does under autocast."""
    excluded = native.DispatchKeySet(getattr(native.DispatchKey, key))

    def autocast(*args: Any) -> Any:
        count = len(overload.info.inputs)
        with native._ExcludeDispatchKeyGuard(excluded):
            return overload.call(*widen(overload.info, args[:count]), *args[count:])

    return autocast
