"""Autocast: inputs of one dtype variable become of one dtype."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._framework import FRAMEWORK, Casting


def cast(info: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs, cast as the op's definition says: see ``Op.autocast``."""
    dtypes = wanted_dtypes(info, inputs)
    return tuple([x if to is None or x.dtype is to else x.to(to) for x, to in zip(inputs, dtypes)])


def wanted_dtypes(info: Any, inputs: tuple[Any, ...]) -> list[torch.dtype | None]:
    """Return the dtype that each input is cast to; None for those that stay as they are.

    An overwritten input keeps its dtype, since a copy of it would be overwritten instead.
    """
    kinds = [a.type.partition("[")[0] for a in info.inputs]
    given = [(k, a, x) for k, a, x in zip(kinds, info.inputs, inputs) if isinstance(x, Tensor)]
    casts: dict[str, torch.dtype] = {}
    for kind, names in info.dtypes.items():
        dtypes = {x.dtype for k, _, x in given if k == kind}
        if not dtypes or not all(d.is_floating_point and d.itemsize > 1 for d in dtypes):
            continue
        to = _target(info, inputs)
        kept = any(k == kind and a.mutated for k, a, _ in given)
        if to is None or kept or torch.float64 in dtypes or FRAMEWORK.dtype_name(to) not in names:
            to = dtypes.pop()
            for dtype in dtypes:
                to = torch.promote_types(to, dtype)
        casts[kind] = to
    return [
        None if a.mutated or not isinstance(x, Tensor) else casts.get(k)
        for k, a, x in zip(kinds, info.inputs, inputs)
    ]


def judge(
    info: Any,
    check: Any,
    inputs: tuple[Any, ...],
    attrs: tuple[Any, ...],
    outs: tuple[Any, ...] | None = None,
) -> None:
    """Check the arguments of a call as they would be after autocast, without casting any."""
    fw: Any = FRAMEWORK
    if active(inputs):
        named = zip(inputs, wanted_dtypes(info, inputs))
        fw = Casting({id(x): FRAMEWORK.dtype_name(to) or "" for x, to in named if to is not None})
    check(fw, *inputs, *attrs, outs)


def _target(info: Any, inputs: tuple[Any, ...]) -> torch.dtype | None:
    """Return the dtype that all inputs of a variable are to have; None for the widest of theirs."""
    if info.autocast == "lower":
        return torch.get_autocast_dtype(inputs[0].device.type)
    return torch.float32 if info.autocast == "float32" else None


def active(inputs: tuple[Any, ...]) -> bool:
    """Whether autocast is on for the device of the inputs."""
    kind = inputs[0].device.type if isinstance(inputs[0], Tensor) else ""
    return kind in {"cpu", "cuda"} and torch.is_autocast_enabled(kind)


def anywhere() -> bool:
    """Whether autocast is on for a kind of device that kernels run on."""
    return torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")


def kernel(info: Any, call: Any, device: str) -> Any:
    """Return what an overload of an op does under autocast for a kind of device."""
    count = len(info.inputs)

    def autocast(*args: Any) -> Any:
        torch.set_autocast_enabled(
            device, False
        )  # which also keeps the call from coming here again
        try:
            return call(*cast(info, args[:count]), *args[count:])
        finally:
            torch.set_autocast_enabled(device, True)

    return autocast
