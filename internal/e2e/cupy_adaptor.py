# pyright: basic
"""Call the CuPy adaptor with a stand-in for CuPy: arrays of NumPy that say they lie on a device.

It shows what the adaptor allocates, copies, hands on and returns, and under which device and stream;
the kernels are those for the CPU. That CuPy itself behaves like this, only a machine with a GPU shows.
"""

from __future__ import annotations

import sys
import types
from typing import Any

import ml_dtypes
import numpy as np
import opcast_backend as backend
import opcast_numpy as expected
import tvm_ffi

_STREAM = 7
_entered: list[str] = []
_calls: list[tuple[str, Any]] = []
_captured: list[bool] = []  # one entry while a graph is captured
_temporary: list[tuple[int, ...]] = []  # shapes of what was then allocated in the graph
_tvm_ffi: Any = tvm_ffi


class _Device:
    id = 0

    def __enter__(self) -> None:
        _entered.append("device")

    def __exit__(self, *_: object) -> None:
        _entered.pop()


class _GraphMemory:
    """What ``cupy.cuda.using_allocator(cupy.cuda.malloc_async)`` returns."""

    def __init__(self, allocator: str) -> None:
        assert allocator == "malloc_async", allocator

    def __enter__(self) -> None:
        _entered.append("graph")

    def __exit__(self, *_: object) -> None:
        _entered.pop()


class _Array(np.ndarray[Any, Any]):
    """What the adaptor uses of ``cupy.ndarray``."""

    device: Any = _Device()

    @property
    def data(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return types.SimpleNamespace(ptr=self.__array_interface__["data"][0])

    def __dlpack__(self, *, stream: int) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert stream == -1, "the call would wait"
        return np.asarray(self).__dlpack__()


def _empty(shape: Any, dtype: Any) -> Any:
    assert _entered, "allocated on whichever device is current"
    if "float8" in np.dtype(dtype).name:  # as CuPy 14.2 says it
        raise ValueError(f"Unsupported dtype {dtype}")
    array = np.empty(shape, dtype)
    if "graph" in _entered:
        _temporary.append(array.shape)
    array.view(np.uint8).fill(0xA5)
    return array.view(_Array)


def _spy(op: str, kernel: Any) -> Any:
    def run(*args: Any) -> Any:
        given = [a for a in args if isinstance(a, _tvm_ffi.Tensor)]
        assert all(s >= 0 for a in given for s in a.strides), (op, "strides below 0")
        stream = _tvm_ffi.get_raw_stream(_tvm_ffi.device("cuda", 0))
        _calls.append((op, (list(_entered), stream)))
        return kernel(*args)

    return run


def _install() -> Any:
    """Import the adaptor over the stand-in."""
    cupy: Any = types.ModuleType("cupy")
    runtime = types.SimpleNamespace(
        getDeviceCount=lambda: 1, CUDARuntimeError=RuntimeError, is_hip=False
    )
    stream = types.SimpleNamespace(ptr=_STREAM, is_capturing=lambda: bool(_captured))
    cupy.ndarray, cupy.empty = _Array, _empty
    cupy.cuda = types.SimpleNamespace(
        runtime=runtime,
        get_current_stream=lambda: stream,
        using_allocator=_GraphMemory,
        malloc_async="malloc_async",
    )
    sys.modules["cupy"] = cupy
    patched: Any = backend._eager
    function = backend.function
    patched.function = lambda op, schema: _spy(op, function(op, schema))
    patched.refuse_device = lambda op, device: None
    info: Any = backend.Op
    info.takes_scratch = lambda self, device: bool(self.scratch)
    import opcast_cupy  # noqa: PLC0415

    return opcast_cupy


def _on_device(value: Any) -> Any:
    return value.copy(order="K").view(_Array) if isinstance(value, np.ndarray) else value


def _same(what: str, got: Any, want: Any) -> None:
    pairs = zip(backend.as_tuple(got) or (), backend.as_tuple(want) or (), strict=True)
    for a, b in pairs:
        if b is None:
            assert a is None, what
            continue
        assert type(a) is _Array and a.dtype == b.dtype and a.shape == b.shape, what
        assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes(), what


_random = np.random.default_rng(0)


def _floats(*shape: int, dtype: Any = np.float32) -> Any:
    return _random.standard_normal(shape).astype(dtype)


def _cases() -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    grad, a, b, bias = _floats(4, 6), _floats(4, 5), _floats(6, 5), _floats(6)
    bf16, f8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
    cache = (_floats(9, 448, dtype=f8), _floats(9, 64, dtype=bf16), abs(_floats(9, 7)))
    tokens = (_floats(2, 3, 512, dtype=bf16), *cache, np.array([0, 4, 9], np.int32))
    return [
        ("rms_norm", (_floats(3, 8), _floats(8)), {}),
        ("rms_norm", (_floats(8, 3).T, _floats(8)), {"eps": 1e-3}),
        ("rms_norm", (_floats(8, 3, dtype=bf16).T, _floats(8, dtype=bf16)), {}),
        ("gemm", (a, b), {}),
        ("gemm", (a, b, bias), {"activation": "silu", "out_dtype": "bfloat16"}),
        ("gemm_backward", (grad, a, b, None), {}),
        ("gemm_backward", (grad, a, b, bias), {}),
        ("conv2d", (_floats(1, 2, 5, 5), _floats(3, 2, 3, 3)), {"stride": (2, 1), "padding": 1}),
        ("fused_add_rms_norm", (_floats(3, 8), _floats(3, 8), _floats(8)), {}),
        ("flash_mla_decode", tokens, {}),
    ]


def _capture(ours: Any) -> None:
    """While a graph is captured, scratch is the graph's, and results are not."""
    ops = backend.ops()
    name, arrays = next((name, arrays) for name, arrays, _ in _cases() if ops[name].scratch)
    _captured.append(True)
    getattr(ours, name)(*map(_on_device, arrays))
    _captured.clear()
    assert len(_temporary) == len(ops[name].scratch), (name, _temporary)
    _calls.clear()


def _reversed(ours: Any) -> None:
    """CuPy hands on negative strides wrongly: such arrays are copied, also where a kernel could read them."""
    a, b = _floats(4, 5), _floats(6, 5)
    got = ours.gemm(_on_device(a)[::-1], _on_device(b))
    _same("reversed", got, expected.gemm(np.ascontiguousarray(a[::-1]), b))
    rows = [_on_device(_floats(3, 8))[::-1] for _ in range(2)]
    try:
        ours.fused_add_rms_norm(*rows, _on_device(_floats(8)))
    except ValueError as error:
        want = "fused_add_rms_norm: x: expected strides of at least 0, got strides [-8, 1]"
        assert str(error) == want, error
    else:
        raise AssertionError("overwrote reversed rows")
    _calls.clear()


def main() -> None:
    """Compare every case with the NumPy adaptor."""
    ours = _install()
    _capture(ours)
    _reversed(ours)
    for op, arrays, attrs in _cases():
        given = [_on_device(a) for a in arrays]
        want = getattr(expected, op)(*[a if a is None else a.copy() for a in arrays], **attrs)
        got = getattr(ours, op)(*given, **attrs)
        _same(op, got, want)
        assert _calls.pop() == (op, (["device"], _STREAM)) and not _calls, op
        mutated = [x for a, x in zip(backend.ops()[op].inputs, given) if a.mutated]
        if mutated:
            assert all(a is b for a, b in zip(got[-len(mutated) :], mutated)), op
            continue
        outs: Any = backend.as_tuple(got)
        fresh = tuple(None if x is None else np.zeros_like(x) for x in outs)
        given_out: Any = fresh if len(fresh) > 1 else next(iter(fresh))
        assert getattr(ours, op)(*given, **attrs, out=given_out) is given_out, op
        _same(op, given_out, want)
        _calls.clear()
    print("ok", len(_cases()), "cases")


main()
