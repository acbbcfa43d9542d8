"""Runs formulas that are written in PyTorch, with numbers of floating point in one precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from opcast_worker.bound import Request
from opcast_worker.host import NDArray
from torch.overrides import TorchFunctionMode

REALS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
CASTS = {torch.Tensor.double, torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16}


class Precision(TorchFunctionMode):
    """Takes one dtype wherever a formula asks for one of 16, 32 or 64 bits of floating point.

    What it asks for of 8 bits is part of what it computes, and stays.
    """

    def __init__(self, real: torch.dtype) -> None:
        """Take this dtype."""
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self.real = real

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call a function of PyTorch with the one dtype in the place of the others."""
        del types
        if func in CASTS:
            return args[0].to(self.real)
        given = kwargs or {}
        seen: Any = given.get("dtype", (*args, None, None)[1])
        if func is torch.Tensor.view and isinstance(seen, torch.dtype):
            return self.view(args[0], seen)
        named = {k: self.meant(v) for k, v in given.items()}
        return func(*map(self.meant, args), **named)

    def meant(self, value: Any) -> Any:
        """Return the one dtype for another; other values stay."""
        return self.real if isinstance(value, torch.dtype) and value in REALS else value

    def view(self, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Return the bits of a tensor as another dtype, if it is known how many the formula means: 32, or 64."""
        if tensor.dtype is self.real and dtype is torch.int32:
            tensor = tensor.to(torch.float32)
        elif tensor.dtype is self.real and dtype.itemsize < tensor.dtype.itemsize:
            name = str(dtype).removeprefix("torch.")
            raise NotImplementedError(
                f"view({name}) of numbers of floating point: the formula gets them in {str(self.real).removeprefix('torch.')}"
            )
        seen = tensor.view(dtype)
        return seen.to(self.real) if dtype in REALS else seen


def evaluate(call: Callable[[Request], Any], real: str, arguments: Request) -> tuple[Any, ...]:
    """Return what a formula gives for arrays of NumPy, as such arrays in float64 or of integers.

    Its random numbers are the same in each call.
    """
    precision = torch.float32 if real == "float32" else torch.float64
    before = torch.get_default_dtype()
    # Else versions of another package decide about sums, and one fails where a size is 0.
    torch.backends.opt_einsum.enabled = False
    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    torch.set_default_dtype(precision)
    try:
        given = {k: tensor(v, precision) for k, v in arguments.items()}
        with Precision(precision):
            made = call({**given, "torch": torch})
    finally:
        torch.set_default_dtype(before)
    results: tuple[Any, ...] = made if isinstance(made, tuple) else (made,)  # pyright: ignore[reportUnknownVariableType]
    return tuple(map(plain, results))


def tensor(value: Any, real: torch.dtype | None = None) -> Any:
    """Return an array as a tensor, and a list of arrays as one of tensors; other values stay.

    The tensor may share the memory of the array, which may be large.
    """
    if isinstance(value, list):
        return [tensor(item, real) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, np.ndarray):
        return value
    array: NDArray = np.require(value, None, ["C", "W"])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if min(array.strides, default=0) < 0:  # which one element may have that is contiguous
        array = array.copy()
    if array.dtype.name.startswith("float8"):
        return from_numpy(array.view(np.uint8)).view(getattr(torch, array.dtype.name))
    kept = {"O": "int64", "g": "float64"}.get(array.dtype.char, array.dtype)
    made = from_numpy(array.astype(kept, copy=False))
    return made.to(real) if real and made.is_floating_point() else made


def from_numpy(array: NDArray) -> torch.Tensor:
    """Return an array as a tensor with the same memory."""
    return torch.from_numpy(array)  # pyright: ignore[reportUnknownMemberType]


def plain(result: Any) -> Any:
    """Return a result as an array of NumPy, which lacks PyTorch's dtypes of 8 and 16 bits; other values stay."""
    if isinstance(result, (list, tuple)):
        return [plain(item) for item in result]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if not isinstance(result, torch.Tensor):
        return result
    result = result.detach().cpu().resolve_conj()
    if result.is_floating_point():
        result = result.to(torch.float64)
    return result.numpy()
