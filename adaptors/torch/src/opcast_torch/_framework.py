"""The rules' view of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ._collection import backend
from ._state import compiling, functorch, grad_enabled, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

DTYPES = {str(d)[len("torch.") :]: d for d in vars(torch).values() if isinstance(d, torch.dtype)}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class _Framework:
    array = "torch.Tensor"

    def is_array(self, value: object) -> bool:
        return isinstance(value, Tensor)

    def shape(self, value: Tensor) -> tuple[int, ...]:
        return tuple(value.shape)

    def dtype(self, value: Tensor) -> str:
        return _NAMES[value.dtype]

    def device(self, value: Tensor) -> str:
        return value.device.type if value.device.type in {"cpu", "meta"} else str(value.device)

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
        backend.check_layout(op, name, _lie(value, 0), stride)
        if not compiling() and (value.is_neg() or value.is_conj()):  # compiled, it gets a copy
            raise ValueError(f"{op}: {name}: expected plain memory, got a lazily negated view")

    def memory(self, value: Tensor) -> backend.Memory | None:
        if compiling() or functorch() is not None:
            return None  # the result is computed apart and then copied
        if any(type(n) is not int for n in (*value.shape, *value.stride())):
            return None  # traced for more than one size
        return _lie(value, value.data_ptr() if plain((value,)) else None)  # strides count still


FRAMEWORK = _Framework()


def _lie(x: Tensor, address: int | None) -> backend.Memory:
    size = x.element_size()
    return backend.Memory(address, size, tuple(x.shape), tuple(s * size for s in x.stride()))


def refuse_layout(op: str, name: str, x: Tensor) -> None:
    """Refuse tensors whose elements do not lie in one strided block."""
    if x.layout is not torch.strided:
        raise ValueError(f"{op}: {name}: expected a dense tensor, got layout {x.layout}")
    if x.is_nested:
        raise ValueError(f"{op}: {name}: expected a dense tensor, got a nested tensor")


def dense(x: Tensor | None, stride: str) -> Tensor | None:
    """Return what the kernel may read: not lazily negated, and dense where it has to be."""
    if x is None:
        return None
    x = x.resolve_conj().resolve_neg()
    last = stride == "last" and x.dim() > 0 and (x.stride(-1) == 1 or x.shape[-1] <= 1)
    return x if last or stride == "any" else x.contiguous()


def empty(op: str, like: Tensor, specs: Sequence[tuple[Sequence[int], str]]) -> list[Tensor]:
    """Return new tensors of these shapes and dtypes."""
    try:
        return [like.new_empty(tuple(shape), dtype=DTYPES[dtype]) for shape, dtype in specs]
    except RuntimeError as error:
        if type(error) is not RuntimeError:  # torch.OutOfMemoryError, or a tracer's own
            raise
        raise MemoryError(f"{op}: out of memory") from error
