"""Kernels that are registered while the process runs: Python callables that adaptors reach by dispatch."""

from __future__ import annotations

import atexit
import ctypes
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._faults import printable, returning
from ._kernels import change, find, forget, inside, registered
from ._library import DEVICES, module
from ._lists import leading, whole
from ._numbers import NUMBERS
from ._rules import expected, one_of
from ._tvm_ffi import tvm_ffi
from ._views import FRAMEWORKS, spec

if TYPE_CHECKING:
    from ._meta import Attr, Op
    from ._views import Framework

_ON_GPUS = ("torch", "cupy", "dlpack")
_FRAMEWORKS = {"cpu": ("numpy", "torch", "dlpack"), "cuda": _ON_GPUS, "rocm": _ON_GPUS}
# What is absent, and the numbers that kernels of GPUs get in the place of arrays.
_NO_ARRAYS = {type(None), *NUMBERS}
# Seconds that the end of the process waits for calls of registered kernels.
_PATIENCE = 10.0

_convert: Callable[[Any], Any] = tvm_ffi.convert


class RegisteredKernel:
    """A kernel that was registered; leaving its ``with`` block, or ``remove``, takes it away."""

    def __init__(self, op: str, name: str, device: str, number: int) -> None:
        self.op, self.name, self.device = op, name, device
        self._number = number

    def remove(self) -> None:
        """Take the kernel away, when the pending calls have ended; a call under way ends with it."""
        change(self.op, self._remove)

    def _remove(self) -> None:
        if module["_opcast_unregister"](self._number):
            registered.remove((self.op, self.name, self.device))
            forget(self.op, self.name)

    def __enter__(self) -> RegisteredKernel:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<kernel {self.name} of {self.op} on {self.device}>"


def register_kernel(
    op: str,
    fn: Callable[..., Any],
    *,
    name: str,
    device: str = "cpu",
    supported: Callable[..., Any] | None = None,
    framework: str | None = None,
) -> RegisteredKernel:
    """Make a callable a kernel of an op, for every adaptor that calls the op on that device.

    It comes before the kernels that the library has, and before those registered earlier.

    Parameters
    ----------
    op
        Name of the op.
    fn
        Called as ``fn(*outputs, *inputs, **attrs)`` in the order of the definition, saved outputs
        last and None for what is absent; a list of arrays is a list. It writes the outputs and the overwritten inputs where
        they lie. Arrays are valid while it runs. What it raises is raised by the call of the op.
    name
        A name that no kernel of the op has.
    device
        Kind of device that it runs on: ``cpu``, ``cuda`` or ``rocm``.
    supported
        Asked with the same arguments before each call, with ``ArraySpec`` for the arrays: None or
        True if the kernel takes the call, else the reason or False.
    framework
        Whose arrays fn gets: ``numpy`` (the default on the CPU), ``torch`` (elsewhere), ``cupy``,
        or ``dlpack`` for tensors of tvm-ffi. Device and stream are set for it.

    """
    for argument, value in (("fn", fn), ("supported", supported)):
        if not callable(value) and (value is not None or argument == "fn"):
            raise expected(TypeError, op, argument, "a callable", type(value).__name__)
    if not str(name).isidentifier():
        raise expected(ValueError, op, "name", "an identifier", repr(name))
    make = FRAMEWORKS[_framework(op, device, framework)]
    make()  # imports it now, where its absence is understood
    return add(find(op), fn, name, device, supported, make)


def _framework(op: str, device: str, framework: str | None) -> str:
    """Return the framework of a kernel for a device, which may leave it to us."""
    if device not in DEVICES:
        raise expected(ValueError, op, "device", one_of(tuple(DEVICES)), repr(device))
    allowed = _FRAMEWORKS[device]
    if framework is not None and framework not in allowed:
        raise expected(ValueError, op, "framework", one_of(allowed), repr(framework))
    return framework or allowed[0]


def add(
    op: Op,
    fn: Callable[..., Any],
    name: str,
    device: str,
    supported: Callable[..., Any] | None,
    make: Callable[[], Framework],
    *,
    slow: bool = False,
) -> RegisteredKernel:
    """Register a kernel; a slow one comes after those that are not."""
    run = _convert(returning(_kernel(op, fn, name, make, device)))
    ask = None if supported is None else _convert(returning(_predicate(op, supported)))
    numbers: list[int] = []

    def edit() -> None:
        code = DEVICES[device]
        numbers.append(module["_opcast_register"](op.name, name, code, run, ask, slow))
        registered.append((op.name, name, device))

    _end_with_process()
    change(op.name, edit)
    return RegisteredKernel(op.name, name, device, numbers[0])


@functools.cache
def _end_with_process() -> None:
    end = module["_opcast_unregister_all"]
    end.release_gil = True  # it waits for threads that need it
    atexit.register(end, _PATIENCE)


def _kernel(
    op: Op, fn: Callable[..., Any], name: str, make: Callable[[], Framework], device: str
) -> Callable[..., Any]:
    """Return what the library calls: device, stream, outputs, inputs and attributes."""
    attrs = [a for a in op.attrs if a.type != "dtype"]

    def run(index: int, stream: int, *args: Any) -> Any:
        depth = getattr(inside, "depth", 0)
        try:
            inside.depth = depth + 1
            framework = make()
            one, args = leading(op, args)
            writable = [True] * len(one.outputs) + [a.mutated for a in one.inputs]
            arrays = [
                t if type(t) in _NO_ARRAYS else framework.array(t, w)
                for t, w in zip(args, writable)
            ]
            values = {a.name: _value(a, v) for a, v in zip(attrs, args[len(arrays) :])}
            given = whole(op, one, arrays)
            if device == "cpu":
                result = fn(*given, **values)
            else:
                with framework.place(index, stream):
                    result = fn(*given, **values)
            if result is not None and not any(result is a for a in arrays):
                what = f"kernel {name} to write its outputs and return None"
                raise TypeError(f"{op.name}: expected {what}, got {type(result).__name__}")
        finally:
            inside.depth = depth

    return run


def _predicate(op: Op, supported: Callable[..., Any]) -> Callable[..., Any]:
    """Return what the library asks; its answer is a reason or empty."""
    attrs = [a for a in op.attrs if a.type != "dtype"]

    def ask(_index: int, _stream: int, *args: Any) -> Any:
        one, args = leading(op, args)
        count = len(one.outputs) + len(one.inputs)
        specs = [None if t is None else spec(t) for t in args[:count]]
        values = {a.name: _value(a, v) for a, v in zip(attrs, args[count:])}
        answer = supported(*whole(op, one, specs), **values)
        if answer is None or answer is True:
            return None
        return "its predicate says no" if answer is False else printable(str(answer))

    return ask


def _value(attr: Attr, value: Any) -> Any:
    """Return an attribute as Python knows it: a list as a tuple, an integer for a float as a float."""
    if value is None or attr.type in {"str", "bool", "int"}:
        return value
    if attr.type == "float":
        return float(value)
    if isinstance(value, int):
        return (value,) * int(attr.type.partition("[")[2].rstrip("]"))
    if hasattr(value, "data_ptr"):
        return tuple((ctypes.c_int64 * value.shape[0]).from_address(value.data_ptr()))
    return tuple(value)
