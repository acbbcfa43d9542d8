"""Which kernels would take a call: asked of the library with the shapes and dtypes of its arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ._kernels import find
from ._library import DEVICES, no_device, told
from ._lists import checker
from ._numbers import View, stand_ins
from ._rules import expected

if TYPE_CHECKING:
    from ._memory import Memory, Specs
    from ._meta import Op

_gen: Any = import_module("._gen", __package__)

_ANOTHER = 12  # DLPack's number for devices that it has no number for


class Variant(NamedTuple):
    """A kernel, and what it says about a call."""

    name: str
    device: str
    reason: str
    """Why it does not take the call; empty if it does."""

    params: str = ""
    """The parameters with which it would run, as ``[rows=64]``; empty for one without any."""


def _gpu(framework: str, device: Any) -> str:
    """Return what a framework's GPUs are: ``rocm`` where it was built for AMD's, else ``cuda``."""
    module: Any = sys.modules.get(framework)
    if framework == "jax":
        amd = "rocm" in getattr(getattr(device, "client", None), "platform_version", "")
    elif framework == "cupy":
        amd = bool(module and module.cuda.runtime.is_hip)
    else:
        amd = bool(module and module.version.hip)
    return "rocm" if amd else "cuda"


class _Framework:
    """The rules' view of anything that has a shape and a dtype, of whatever framework."""

    array = "array"

    def is_array(self, value: Any) -> bool:
        return hasattr(value, "shape") and hasattr(value, "dtype")

    def shape(self, value: Any) -> tuple[int, ...]:
        return tuple(int(n) for n in value.shape)

    def dtype(self, value: Any) -> str:
        return self.dtype_name(value.dtype) or str(value.dtype)

    def device(self, value: Any) -> str:
        device: Any = getattr(value, "device", "cpu")
        kind = getattr(device, "platform", None) or getattr(device, "type", None)  # JAX, PyTorch
        if kind is None:  # NumPy says it in words, and CuPy has no other kind
            return f"{_gpu('cupy', device)}:{device.id}" if hasattr(device, "id") else "cpu"
        kind = (
            _gpu("jax" if kind == "gpu" else "torch", device) if kind in {"gpu", "cuda"} else kind
        )
        index = getattr(device, "id", None) or getattr(device, "index", None) or 0
        return kind if kind == "cpu" else f"{kind}:{index}"

    def dtype_name(self, value: Any) -> str | None:
        name = getattr(value, "name", None) or getattr(value, "__name__", None) or str(value)
        return name.removeprefix("torch.")

    def check_out(self, op: str, name: str, value: Any) -> None:
        """Allow all."""

    def check_mutated(self, op: str, name: str, value: Any, stride: str) -> None:
        """Allow all."""

    def memory(self, value: Any) -> Memory | None:
        return None


_framework = _Framework()


def checks() -> Any:
    """Return the checks of all ops, imported for the first who asks: ``op_call`` does without.

    They are found where they were, not in ``sys.modules``, which may have another version of the collection by now.
    """
    return getattr(_gen, "checks", None) or import_module(f"{_gen.__name__}.checks")


def variants(op: Op, given: dict[str, Any], named: dict[str, Any]) -> list[Variant]:
    """Return all kernels of an op with their answers; the arguments are checked like a call's.

    Arrays are given by name, or what has their shape, dtype and device; attributes that are not given
    have their defaults.
    """
    inputs = stand_ins(op, _framework, [given.get(a.name) for a in op.inputs])
    fw = View(_framework, inputs[0])
    attrs = [named.get(a.name, a.default) for a in op.attrs]
    check: Callable[..., Any] = getattr(checks(), op.name)
    if op.lengths:
        check = checker(check, find(op.name), op)
    checked: tuple[Specs, tuple[Any, ...]] = check(fw, *inputs, *attrs)
    specs, values = checked
    device = _device(op, inputs)
    held = [None if x is None else (fw.shape(x), fw.dtype(x)) for x in inputs]
    count = len(op.outputs)
    call = [*_flat([*specs[:count], *held]), *values, *_flat(specs[count:])]
    answers: list[Any] = told("_opcast_explain_shapes", op.name, *device, *op.lengths, *call)
    return [Variant(**answer) for answer in answers]


def _device(op: Op, inputs: Sequence[Any]) -> tuple[int, int]:
    """Return DLPack's numbers of the device of the first array."""
    arg, first = next(((a, x) for a, x in zip(op.inputs, inputs) if x is not None), (None, None))
    if arg is None:
        return DEVICES["cpu"], 0
    word, _, index = _framework.device(first).partition(":")
    kind, number = DEVICES.get(word, _ANOTHER), int(index or 0)
    wrong = no_device(kind, number)
    if wrong is not None:
        raise expected(ValueError, op.name, arg.name, *wrong)
    return kind, number


def _flat(arrays: Iterable[tuple[tuple[int, ...], str] | None]) -> Iterable[Any]:
    """Lay shapes and dtypes out as the library takes them: two arguments for each array."""
    for spec in arrays:
        yield from spec or (None, None)
