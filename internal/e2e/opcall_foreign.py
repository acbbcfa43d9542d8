"""Call ops with arrays of frameworks that are not here, as those present themselves, and with devices that are not."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import array_api_strict as xp
import ml_dtypes
import numpy as np
import opcast_backend as backend
from opcast_backend import _arrays
from opcast_backend._kernels import BUILT

LAST = 2**31 - 1
TYPES = {1, 2, 3, 4, *range(7, 19)}
DRIVERS = {"cuda": {2, 13}, "rocm": {10}}  # types of devices, with managed memory
done: list[str] = []

pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def expect(want: str, *args: Any) -> None:
    """Expect an error of just this class and text, or none; a text that ends in "..." may go on."""
    done.append(want)
    got = ""
    try:
        backend.op_call(*args)
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
    assert got == want or (want.endswith("...") and got.startswith(want[:-3])), (got, want)


class Placed:
    """An array that says that it is on a device: by its method, in its capsule, or in both."""

    def __init__(self, array: Any, told: Any, written: tuple[int, int]) -> None:
        self.array, self.told, self.written = array, told, written

    def __dlpack_device__(self) -> Any:
        return self.told

    def __dlpack__(self, *, stream: Any = None) -> Any:
        capsule = self.array.__dlpack__()
        address = pointer(capsule, b"dltensor")
        for i, number in enumerate(self.written):
            ctypes.c_int32.from_address(address + 8 + 4 * i).value = number
        return capsule


def wrong(kind: int, number: int) -> str:
    """Return what is said of a device that there cannot be."""
    if kind not in TYPES:
        return f"ValueError: eltwise_relu: x: expected a device type of DLPack, got {kind}"
    if kind != 1 and not 0 <= number < 4096:
        return f"ValueError: eltwise_relu: x: expected a device number from 0 to 4095, got {number}"
    return ""


def devices() -> None:
    """Try every type and number, in all places."""
    x, y = np.array([-1, 2], "f4"), np.zeros(2, "f4")
    for kind in range(-3, 21):
        for number in (*range(-7, 4), 4095, 4096, LAST):
            device, refused = (kind, number), wrong(kind, number)
            if not refused and any(kind in DRIVERS.get(name, ()) for name in BUILT):
                continue  # such a library asks the driver, and may find the device
            somewhere = "" if kind == 1 else "NotImplementedError: eltwise_relu: no kernel for ..."
            for told in (device, (1, 0)):  # who lies to us may have a kernel to itself
                a, b = (Placed(v, told, device) for v in (x, y))
                expect(refused or somewhere, "eltwise_relu", [a], [b])
            a, b = (Placed(v, device, (1, 0)) for v in (x, y))
            expect(refused, "eltwise_relu", [a], [b])
            output = refused.replace(" x:", " y:")
            expect(output, "eltwise_relu", [x], [Placed(y, device, (1, 0))])
            entered = ""
            try:
                with _arrays.Stream("", device, 0).enter():
                    pass
            except _arrays.Refused as fault:
                entered = f"ValueError: eltwise_relu: x: expected {fault.expected}, got {fault.got}"
            assert entered == refused, (device, entered)
            explained(device, refused)
    for told in (None, 1, (1,), (1, 0, 0), ("cpu", 0), (1, "0"), (None, 0), (1e400, 0)):
        text = f"TypeError: eltwise_relu: x: expected two device numbers, got {told!r}"
        expect(text, "eltwise_relu", [Placed(x, told, (1, 0))], [y])


def explained(device: tuple[int, int], refused: str) -> None:
    """Ask about an array on a device, in the words of PyTorch."""
    name = {1: "cpu", 2: "cuda"}.get(device[0], f"kind{device[0]}")
    place = SimpleNamespace(type=name, index=device[1])
    array: Any = SimpleNamespace(shape=(2,), dtype=np.dtype("f4"), device=place)
    try:
        text, got = backend.explain("eltwise_relu", array), ""
        assert "eltwise_relu on cpu: " + ("yes" if device[0] == 1 else "is for cpu") in text, text
    except ValueError as error:
        got = f"ValueError: {error}"
    if device[0] in {1, 2}:
        assert got == refused, (device, got)
    else:  # a name, which stands for any device, and a number
        assert got == wrong(12, device[1]), (device, got)


class Paddle:
    """A tensor as Paddle shows it: the host has no number, and capsules have no version."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, None]:
        return 1, None

    def __dlpack__(self, stream: Any = None) -> Any:
        assert stream is None
        if self.array.dtype == ml_dtypes.bfloat16:
            capsule = self.array.view(np.uint16).__dlpack__()
            ctypes.c_uint8.from_address(pointer(capsule, b"dltensor") + 20).value = 4  # kDLBfloat
            return capsule
        return self.array.__dlpack__()


def paddle() -> None:
    """Read and write tensors of Paddle."""
    for dtype in (np.float32, ml_dtypes.bfloat16):
        x, residual = np.array([[-1, 2]], dtype), np.array([[3, 4]], dtype)
        y, weight = np.zeros((1, 2), dtype), np.ones(2, dtype)
        expect("", "eltwise_relu", [Paddle(x)], [Paddle(y)])
        assert (y == np.array([[0, 2]], dtype)).all(), y
        expect("", "fused_add_rms_norm", [Paddle(x), Paddle(residual), Paddle(weight)])
        assert (residual == np.array([[2, 6]], dtype)).all(), residual


class Value:
    """An array as MLX shows it: its method takes no arguments."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self) -> Any:
        return self.array.__dlpack__()


def value_of(module: str) -> Any:
    """Return the class of arrays of a module."""
    return type("array", (Value,), {"__module__": module})


class Flagged(Value):
    """An array with the flags of NumPy's."""

    flags = SimpleNamespace(writeable=False)


class Interfaced(Value):
    """An array with the interface of NumPy's."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": (1, 2), "typestr": "<f4", "data": (1, True)}


def frozen(array: Any) -> Any:
    """Return a view that NumPy does not write."""
    view = array.view()
    view.flags.writeable = False
    return view


def immutable() -> None:
    """Read arrays that nobody may write; refuse to write them."""
    x, y, weight = np.array([[-1, 2]], "f4"), np.zeros((1, 2), "f4"), np.ones(2, "f4")
    mlx, below = value_of("mlx.core"), type("Mine", (value_of("mlx.core"),), {})
    arrow, own = value_of("pyarrow.lib"), value_of("own.arrays")
    expect("", "eltwise_relu", [own(x)], [own(y)])
    read_only = "a read-only array"
    for make, got in (
        (mlx, "an array of MLX"),
        (below, "an array of MLX"),
        (arrow, "an array of Arrow"),
        (Flagged, read_only),
        (Interfaced, read_only),
        (frozen, read_only),
    ):
        y[...] = 0
        expect("", "eltwise_relu", [make(x)], [y])
        expected = f"expected writable memory, got {got}"
        expect(f"ValueError: eltwise_relu: y: {expected}", "eltwise_relu", [x], [make(y)])
        norm = "ValueError: fused_add_rms_norm"
        expect(f"{norm}: x: {expected}", "fused_add_rms_norm", [make(y), x, weight])
        expect(f"{norm}: residual: {expected}", "fused_add_rms_norm", [x, make(y), weight])
        expect("", "fused_add_rms_norm", [x.copy(), x.copy(), make(weight)])
        assert (y == [[0, 2]]).all(), y


def strict() -> None:
    """Read and write arrays of array-api-strict, of which each device that it pretends to have is the host."""
    for device in (None, xp.Device("device1")):
        x = xp.asarray([[-1, 2]], dtype=xp.float32, device=device)
        y = xp.zeros((1, 2), dtype=xp.float32)
        expect("", "eltwise_relu", [x], [y])
        assert (np.from_dlpack(y) == [[0, 2]]).all(), y


for test in (devices, paddle, immutable, strict):
    test()
print(len(done), "checks")
