"""Arrays of any framework, as tensors of tvm-ffi over the same memory.

Nothing is copied. What a kernel may do with an array is for the library to say; what the library
cannot see is said here: memory that nobody may write, values that are not in memory, and streams.
On a GPU a call runs on the current stream of one framework, which leads. Arrays of others are
waited for before they are read; to write them, one would have to make others wait for the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from operator import index as as_int
from typing import Any, NamedTuple

from ._library import no_device, retype
from ._numbers import is_number
from ._tvm_ffi import tvm_ffi
from ._writable import IMMUTABLE, read_only, says_read_only

_CPU = (1, 0)  # DLPack's number, and an index
_CUDA, _MANAGED = 2, 13  # DLPack's numbers of a GPU's memory, and of memory that the host shares
_VERSIONED = (1, 0)  # DLPack capsules of this version say whether memory is read-only


class Refused(Exception):
    """An array that cannot be used: the class of the error, what was expected, and what came."""

    place = 0
    """Which of several arrays it is."""

    def __init__(self, kind: type[Exception], expected: str, got: str) -> None:
        super().__init__(expected)
        self.kind, self.expected, self.got = kind, expected, got


class Stream(NamedTuple):
    """Where a call on a GPU runs: a framework, the device in DLPack's numbers, and the stream."""

    framework: str
    device: tuple[int, int]
    address: int

    @property
    def number(self) -> int:
        """The stream as DLPack counts them: the default one is 1."""
        return self.address or 1

    def enter(self) -> AbstractContextManager[Any]:
        """Have the library run on the stream."""
        device = _checked(*self.device)  # tvm-ffi writes to a table at that place
        return tvm_ffi.use_raw_stream(tvm_ffi.device(*device), self.address)


class Framework(NamedTuple):
    """How a framework's arrays become tensors."""

    name: str
    export: Callable[[Any, bool, Stream | None], Any]
    """Make a tensor of an array, which may be written, for a call on a stream or the CPU."""
    device: Callable[[Any], tuple[int, int]]
    announce: Callable[[Any], None] | None = None
    """Say that an array has been written."""
    immutable: str = ""
    """What the framework is called, if nobody may write its arrays."""


def framework(kind: type) -> Framework | None:
    """Return what is known of a type of arrays; None for what is no array."""
    if kind not in _known:
        roots = [base.__module__.partition(".")[0] for base in kind.__mro__]
        make = next((_FRAMEWORKS[r] for r in roots if r in _FRAMEWORKS), _another)
        immutable = next((IMMUTABLE[r] for r in roots if r in IMMUTABLE), "")
        known = make()._replace(immutable=immutable) if hasattr(kind, "__dlpack__") else None
        _known[kind] = known
    return _known[kind]


def stream(arrays: Sequence[Any], written: Sequence[bool]) -> Stream | None:
    """Return where a call runs, or None for the CPU: the first array that is written decides."""
    found: list[tuple[bool, Framework, tuple[int, int]]] = []
    for place, (x, writes) in enumerate(zip(arrays, written)):
        fw = framework(x.__class__)
        try:
            device = _CPU if fw is None else fw.device(x)
        except Refused as fault:
            fault.place = place
            raise
        if fw is not None and device[0] != _CPU[0]:
            found.append((writes, fw, device))
    if not found:
        return None
    _, fw, device = next((f for f in found if f[0]), found[0])
    current = _CURRENT.get(fw.name)
    return Stream(fw.name, device, current(device) if current else 0)


def tensors(arrays: Sequence[Any], written: Sequence[bool], at: Stream | None) -> list[Any]:
    """Return arrays as the library takes them; what is no array stays what it is."""
    made: list[Any] = []
    try:
        for x, writes in zip(arrays, written):
            made.append(x if x is None else _tensor(x, writes, at))
    except Refused as fault:
        fault.place = len(made)
        raise
    return made


def _tensor(x: Any, writes: bool, at: Stream | None) -> Any:
    fw = framework(x.__class__)
    if fw is None:  # a number of NumPy becomes one of Python
        return x.item() if is_number(x) and hasattr(x, "item") else x
    if writes and fw.immutable:
        raise Refused(ValueError, "writable memory", f"an array of {fw.immutable}")
    if writes and at is not None and fw.name != at.framework and fw.device(x)[0] != _CPU[0]:
        raise Refused(ValueError, "an array of the framework that leads", type(x).__name__)
    try:
        return fw.export(x, writes, at)
    except Refused:
        raise
    except Exception as error:  # an exporter's own words on what it lacks
        got = f"{type(x).__name__} ({error})"
        raise Refused(TypeError, "DLPack tensor", got) from error


def announce(arrays: Sequence[Any], written: Sequence[bool]) -> None:
    """Tell PyTorch which of its tensors a call has written."""
    for x, writes in zip(arrays, written):
        if not writes or x is None:
            continue
        fw = framework(x.__class__)
        if fw is not None and fw.announce is not None:
            fw.announce(x)


def _on_cpu(_: Any) -> tuple[int, int]:
    return _CPU


def _device(x: Any) -> tuple[int, int]:
    try:
        numbers = x.__dlpack_device__()
    except Exception:  # there is no memory at all, as its exporter says
        return _CPU
    try:
        kind, index = numbers
        kind, index = as_int(kind), as_int(index or 0)  # Paddle numbers the host None
    except (TypeError, ValueError):
        raise Refused(TypeError, "two device numbers", repr(numbers)) from None
    return _checked(kind, index)


def _checked(kind: int, index: int) -> tuple[int, int]:
    """Return the numbers of a device, or refuse those that no device has."""
    wrong = no_device(kind, index)
    if wrong is not None:
        raise Refused(ValueError, *wrong)
    if kind == _MANAGED:
        kind = _CUDA  # whose kernels take it
    return _CPU if kind == _CPU[0] else (kind, index)


def _torch() -> Framework:
    torch, from_dlpack = import_module("torch"), tvm_ffi.from_dlpack

    def export(x: Any, writes: bool, at: Stream | None) -> Any:
        if x.is_nested or x.layout is not torch.strided:
            got = "a nested one" if x.is_nested else f"layout {x.layout}"
            raise Refused(ValueError, "a dense tensor", got)
        if x.is_neg() or x.is_conj():
            kind = "conjugated" if x.is_conj() else "negated"
            raise Refused(ValueError, "plain memory", f"a lazily {kind} view")
        if writes and x.requires_grad and torch.is_grad_enabled():
            raise Refused(ValueError, "no gradient to flow", "requires_grad")
        if at is None:
            return from_dlpack(x)
        if at.framework == "torch":
            return x  # tells tvm-ffi the stream, and PyTorch as the allocator of scratch
        return from_dlpack(x.detach().__dlpack__(stream=at.number))

    increment_version = torch.autograd.graph.increment_version

    def announce(x: Any) -> None:
        if not x.is_inference():
            increment_version(x)

    def device(x: Any) -> tuple[int, int]:
        return _CPU if x.is_cpu else _device(x)

    return Framework("torch", export, device, announce)


def _numpy() -> Framework:
    def export(x: Any, writes: bool, _at: Stream | None) -> Any:
        if hasattr(x, "mask"):
            raise Refused(TypeError, "DLPack tensor", type(x).__name__)
        if writes and not x.flags.writeable:
            raise Refused(ValueError, "writable memory", "a read-only array")
        if not x.dtype.isnative:
            raise Refused(ValueError, "native byte order", f"dtype {x.dtype.str}")
        return _retyped(x, {"max_version": _VERSIONED})  # other capsules refuse read-only memory

    return Framework("numpy", export, _on_cpu)


def _cupy() -> Framework:
    def export(x: Any, _writes: bool, at: Stream | None) -> Any:
        return _retyped(x, {"stream": -1 if at is None or at.framework == "cupy" else at.number})

    return Framework("cupy", export, _device)


def _retyped(x: Any, options: dict[str, Any]) -> Any:
    """Export an array of NumPy or CuPy, which cannot export the dtypes of ml_dtypes."""
    if x.dtype.isbuiltin != 2:  # of another package
        return tvm_ffi.from_dlpack(x.__dlpack__(**options))
    dtype = tvm_ffi.dtype(x.dtype.name)
    view = x.view(f"uint{8 * x.dtype.itemsize}")
    made = tvm_ffi.from_dlpack(view.__dlpack__(**options))
    return retype(made, dtype.type_code, dtype.bits)


def _jax() -> Framework:
    def export(x: Any, _writes: bool, at: Stream | None) -> Any:
        if at is None:
            return tvm_ffi.from_dlpack(x.block_until_ready().__dlpack__())
        return tvm_ffi.from_dlpack(x.__dlpack__(stream=at.number))

    return Framework("jax", export, _device)


def _own() -> Framework:
    def export(x: Any, _writes: bool, _at: Stream | None) -> Any:
        return x

    return Framework("tvm_ffi", export, _device)


def _another() -> Framework:
    def export(x: Any, writes: bool, at: Stream | None) -> Any:
        options: dict[str, Any] = {} if at is None else {"stream": at.number}
        if writes and says_read_only(x):
            raise Refused(ValueError, "writable memory", "a read-only array")
        try:
            capsule = x.__dlpack__(max_version=_VERSIONED, **options)
        except TypeError:  # written before there were versions
            capsule = x.__dlpack__(**options)
        if writes and read_only(capsule):
            raise Refused(ValueError, "writable memory", "a read-only array")
        return tvm_ffi.from_dlpack(capsule)

    return Framework("", export, _device)


def _stream_of_torch(device: tuple[int, int]) -> int:
    return import_module("torch").cuda.current_stream(device[1]).cuda_stream


def _stream_of_cupy(device: tuple[int, int]) -> int:
    cuda = import_module("cupy").cuda
    with cuda.Device(device[1]):
        return cuda.get_current_stream().ptr


def _stream_of_tvm_ffi(device: tuple[int, int]) -> int:
    return tvm_ffi.get_raw_stream(tvm_ffi.device(*device))


# The current streams of frameworks that have one, and how the arrays of each framework are read.
_CURRENT: dict[str, Callable[[tuple[int, int]], int]] = {
    "torch": _stream_of_torch,
    "cupy": _stream_of_cupy,
    "tvm_ffi": _stream_of_tvm_ffi,
}
_FRAMEWORKS: dict[str, Callable[[], Framework]] = {
    "torch": _torch,
    "numpy": _numpy,
    "cupy": _cupy,
    "jax": _jax,
    "jaxlib": _jax,
    "tvm_ffi": _own,
}
_known: dict[type, Framework | None] = {}
