"""The rules' view of tensors, and new ones."""

# pyright: basic
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import paddle
from paddle import Tensor

from .._collection import backend

_dtype: Any = paddle.dtype
_NAMES: dict[Any, str] = {
    d: str(d).rpartition(".")[2] for d in vars(paddle).values() if isinstance(d, _dtype)
}
# PaddlePaddle can name wider unsigned integers, but has no functions for them, not even to make one.
GPU = "rocm" if paddle.device.is_compiled_with_rocm() else "cuda"
DTYPES = {n: d for d, n in _NAMES.items() if n not in {"uint16", "uint32", "uint64"}}


class _Framework:
    array = "paddle.Tensor"

    def is_array(self, value: object) -> bool:
        return isinstance(value, Tensor)

    def shape(self, value: Any) -> tuple[int, ...]:
        return tuple(value.shape)

    def dtype(self, value: Any) -> str:
        return _NAMES[value.dtype]

    def device(self, value: Any) -> str:
        place = value.place
        if place.is_cpu_place():
            return "cpu"
        return f"{GPU}:{place.gpu_device_id()}" if place.is_gpu_place() else str(place)

    def dtype_name(self, value: object) -> str | None:
        return _NAMES[value] if isinstance(value, _dtype) else None

    def check_out(self, op: str, name: str, value: Any) -> None:
        self.check_mutated(op, name, value, "")
        if not value.stop_gradient and paddle.is_grad_enabled():
            raise ValueError(f"{op}: {name}: expected no gradient to flow, got requires_grad")

    def check_mutated(self, op: str, name: str, value: Any, stride: str) -> None:
        if not value.is_contiguous():
            backend.check_layout(op, name, self.memory(value), stride)

    def memory(self, value: Any) -> Any:
        size = value.element_size()
        strides = tuple([s * size for s in value.strides])
        return backend.Memory(value.data_ptr(), size, tuple(value.shape), strides)


FRAMEWORK = _Framework()


def refuse_layout(op: str, name: str, x: Any) -> None:
    """Refuse tensors whose elements do not lie in one strided block of this process."""
    if x.is_dist():
        raise ValueError(f"{op}: {name}: expected a dense tensor, got a distributed tensor")
    if not x.is_dense():
        kinds = {"sparse_coo": x.is_sparse_coo(), "sparse_csr": x.is_sparse_csr()}
        kind = next((kind for kind, is_one in kinds.items() if is_one), "selected_rows")
        raise ValueError(f"{op}: {name}: expected a dense tensor, got layout {kind}")


def empty(op: str, like: Any, specs: Iterable[Any]) -> list[Any]:
    """Return new tensors of these shapes and dtypes on the device of another, None for absent ones."""
    place = like.place
    made: list[Any] = []
    for spec in specs:
        if spec is None:
            made.append(None)
            continue
        shape, name = spec
        if name not in DTYPES:
            raise NotImplementedError(f"{op}: PaddlePaddle has no tensors of dtype {name}")
        made.append(paddle.empty(shape, dtype=DTYPES[name], device=place))
    return made


def readable(x: Any, arg: backend.Arg) -> Any:
    """Return an input as the kernels can read it, copied only where it has to be.

    The copy is a clone: ``Tensor.contiguous`` would move the tensor itself, away from what it is a view of.
    """
    fits = x.is_contiguous() or arg.stride == "any"
    fits = fits or (arg.stride and (x.strides[-1] == 1 or x.shape[-1] == 1))
    return x if fits and (arg.align == 1 or x.data_ptr() % arg.align == 0) else x.clone()
