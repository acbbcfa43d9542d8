"""The rules' view of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from .._collection import backend
from ._private import functorch
from ._state import compiling, grad_enabled

DTYPES = {str(d)[len("torch.") :]: d for d in vars(torch).values() if isinstance(d, torch.dtype)}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_PLAIN = {Tensor, Parameter}
# What its devices of the type "cuda" are, which also AMD's are.
GPU = "rocm" if torch.version.hip else "cuda"


class _Framework:
    array = "torch.Tensor"

    def is_array(self, value: object) -> bool:
        return isinstance(value, Tensor)

    def shape(self, value: Tensor) -> tuple[int, ...]:
        return tuple(value.shape)

    def dtype(self, value: Tensor) -> str:
        return _NAMES[value.dtype]

    def device(self, value: Tensor) -> str:
        kind = (device := value.device).type
        if kind in {"cpu", "meta"}:
            return kind
        return f"{GPU}:{device.index}" if kind == "cuda" else str(device)

    def dtype_name(self, value: object) -> str | None:
        return _NAMES[value] if isinstance(value, torch.dtype) else None

    def check_out(self, op: str, name: str, value: Tensor) -> None:
        self._check_written(op, name, value, "")
        if value.requires_grad and grad_enabled():
            raise ValueError(f"{op}: {name}: expected no gradient to flow, got requires_grad")

    def check_mutated(self, op: str, name: str, value: Tensor, stride: str) -> None:
        if functorch() is None:  # else the elements of what the transformation wraps count
            self._check_written(op, name, value, stride)

    def _check_written(self, op: str, name: str, value: Tensor, stride: str) -> None:
        if type(value) not in _PLAIN or not value.is_contiguous():
            backend.check_layout(op, name, _lie(value, 0), stride)
        if not compiling() and (value.is_neg() or value.is_conj()):  # compiled, it gets a copy
            kind = "conjugated" if value.is_conj() else "negated"
            raise ValueError(f"{op}: {name}: expected plain memory, got a lazily {kind} view")

    def memory(self, value: Tensor) -> backend.Memory | None:
        if compiling() or functorch() is not None:
            return None  # the result is computed apart and then copied
        if not {*map(type, (*value.shape, *value.stride()))} <= {int}:
            return None  # traced for more than one size, which tells by the sizes only
        return _lie(value, _address(value))  # without one, strides count still


FRAMEWORK = _Framework()


class Casting(_Framework):
    """The same view of tensors of which some are to have other dtypes, by their ``id``."""

    def __init__(self, dtypes: dict[int, str]) -> None:
        self.dtypes = dtypes

    def dtype(self, value: Tensor) -> str:
        """Return the dtype that a tensor is to have."""
        return self.dtypes.get(id(value)) or super().dtype(value)


def _lie(x: Tensor, address: int | None) -> backend.Memory:
    size = x.element_size()
    return backend.Memory(address, size, (*x.shape,), (*[s * size for s in x.stride()],))


def _address(x: Tensor) -> int | None:
    """Return where a tensor lies: None for one without memory, as those of transformations are."""
    if type(x) not in _PLAIN:  # a fake tensor has an address, too
        return None
    try:
        return x.data_ptr() or None
    except RuntimeError:
        return None


def refuse_layout(op: str, name: str, x: Tensor) -> None:
    """Refuse tensors whose elements do not lie in one strided block."""
    if x.layout is not torch.strided:
        raise ValueError(f"{op}: {name}: expected a dense tensor, got layout {x.layout}")
    if x.is_nested:
        raise ValueError(f"{op}: {name}: expected a dense tensor, got a nested tensor")


def refusal(info: Any, name: str = "") -> NotImplementedError:
    """Build the error for a gradient that does not exist, by the input with a name or by any."""
    if info.gradient_of:
        text = f"{info.gradient_of} has a first derivative only"
    elif info.tangent_of:
        text = f"the tangents of {info.tangent_of} have none"
    else:
        text = "call it under torch.no_grad() or detach the inputs"
    where = f"{info.name}: {name}" if name else info.name
    return NotImplementedError(f"{where}: no gradient is defined: {text}")


def empty(op: str, like: Tensor, specs: Sequence[tuple[Sequence[int], str]]) -> list[Tensor]:
    """Return new tensors of these shapes and dtypes."""
    try:
        return [like.new_empty(tuple(shape), dtype=DTYPES[dtype]) for shape, dtype in specs]
    except RuntimeError as error:
        if type(error) is not RuntimeError:  # torch.OutOfMemoryError, or a tracer's own
            raise
        raise MemoryError(f"{op}: out of memory") from error
