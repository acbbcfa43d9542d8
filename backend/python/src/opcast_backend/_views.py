"""The arguments of registered kernels, as arrays of the framework that a kernel is written in.

The library hands on tensors of tvm-ffi. An array made of one lies in the memory of the caller: it
can be read, and written where it is an output, while the kernel runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, NamedTuple


class ArraySpec(NamedTuple):
    """What a predicate learns about an array; there may be no memory behind it."""

    shape: tuple[int, ...]
    dtype: str
    """Long name, such as ``float32``."""
    device: str
    """Such as ``cpu`` or ``cuda:0``."""
    strides: tuple[int, ...]
    """In elements."""


class Framework(NamedTuple):
    """How kernels of one framework get their arrays."""

    array: Callable[[Any, bool], Any]
    """Make an array of a tensor; the second argument says whether the kernel may write it."""
    place: Callable[[int, int], AbstractContextManager[Any]]
    """Work on a device and a stream, given by number and address; for devices that have streams."""


def spec(tensor: Any) -> ArraySpec:
    """Describe a tensor of tvm-ffi."""
    kind, index = tensor.device.type, tensor.device.index
    device = kind if kind == "cpu" else f"{kind}:{index}"
    return ArraySpec(tuple(tensor.shape), str(tensor.dtype), device, tuple(tensor.strides))


def _nowhere(_device: int, _stream: int) -> AbstractContextManager[Any]:
    return contextlib.nullcontext()


class _Host:
    """Memory as NumPy reads it; keeps what owns it."""

    def __init__(self, owner: Any, description: dict[str, Any]) -> None:
        self.owner = owner
        self.__array_interface__ = description


class _Device:
    """Memory as CuPy reads it; keeps what owns it."""

    def __init__(self, owner: Any, description: dict[str, Any]) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = description


def _strided(framework: Any, memory: type[_Host | _Device], numpy: Any) -> Callable[..., Any]:
    """Return the array maker of NumPy or CuPy."""

    def array(tensor: Any, writable: bool) -> Any:
        name, step = str(tensor.dtype), tensor.dtype.itemsize
        try:
            dtype = numpy.dtype(name)
        except TypeError:
            dtype = numpy.dtype(getattr(import_module("ml_dtypes"), name))
        # Memory of dtypes that are not NumPy's own passes as that of integers.
        held = dtype if dtype.isbuiltin == 1 else numpy.dtype(f"uint{8 * step}")
        shape = tuple(tensor.shape)
        if 0 in shape:
            return framework.empty(shape, dtype)
        description = {
            "data": (tensor.data_ptr(), not writable),
            "shape": shape,
            "strides": tuple(s * step for s in tensor.strides),
            "typestr": held.str,
            "version": 3,
        }
        made = framework.asarray(memory(tensor, description))
        return made if dtype == held else made.view(dtype)

    return array


def _numpy() -> Framework:
    numpy = import_module("numpy")
    return Framework(_strided(numpy, _Host, numpy), _nowhere)


def _cupy() -> Framework:
    numpy, cupy = import_module("numpy"), import_module("cupy")

    def place(device: int, stream: int) -> AbstractContextManager[Any]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(cupy.cuda.Device(device))
            stack.enter_context(cupy.cuda.ExternalStream(stream, device))
            return stack.pop_all()

    return Framework(_strided(cupy, _Device, numpy), place)


def _torch() -> Framework:
    torch = import_module("torch")

    def array(tensor: Any, _writable: bool) -> Any:
        return torch.from_dlpack(tensor)

    def place(device: int, stream: int) -> AbstractContextManager[Any]:
        cuda = torch.cuda
        queue = cuda.ExternalStream(stream, device) if stream else cuda.default_stream(device)
        with contextlib.ExitStack() as stack:
            stack.enter_context(cuda.device(device))
            stack.enter_context(cuda.stream(queue))
            return stack.pop_all()

    return Framework(array, place)


def _dlpack() -> Framework:
    def array(tensor: Any, _writable: bool) -> Any:
        return tensor

    return Framework(array, _nowhere)


FRAMEWORKS: dict[str, Callable[[], Framework]] = {
    "numpy": _numpy,
    "torch": _torch,
    "cupy": _cupy,
    "dlpack": _dlpack,
}
"""What kernels may be written in. Each function imports its framework."""
