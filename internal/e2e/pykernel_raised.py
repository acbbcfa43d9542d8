"""Raise what is hard to hand on from registered kernels: exceptions without a text, and of signals."""

import faulthandler
import signal
import sys
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import opcast_backend as backend
import opcast_numpy
import tvm_ffi
from pykernel_callers import CALLERS, OwnError, expect, jax

X, WEIGHT = np.ones((2, 3), np.float32), np.ones(3, np.float32)
X_TENSOR, Y_TENSOR = (tvm_ffi.from_dlpack(np.ones((2, 3), np.float32)) for _ in range(2))
RELU = backend.ops()["eltwise_relu"]
CALLS = 10_000


class MuteError(Exception):
    """It cannot be put into words, and what says so cannot either."""

    def __str__(self) -> str:
        raise self

    __repr__ = __str__


class QuittingError(Exception):
    """It ends the process when somebody asks for its text."""

    def __str__(self) -> str:
        raise SystemExit(3)


class PlainBaseError(BaseException):
    """It is no Exception."""


class KnownError(OwnError):
    """tvm-ffi knows it, and cannot make it from a text alone."""


class NamelessType(type):
    """The metaclass of classes whose name raises."""

    @property
    def __module__(cls) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise ValueError("no module")


class NamelessError(Exception, metaclass=NamelessType):
    """Its class has no name."""


class AlarmError(Exception):
    """What the handler of a timer raises."""


tvm_ffi.register_error("KnownError", KnownError)

# What a kernel raises, and what JAX's error says of it.
RAISED: dict[BaseException, str] = {
    ValueError("lone \udc80 surrogate"): r"ValueError: lone \udc80 surrogate",
    ValueError("nul \0, newline \n, emoji \U0001f600"): "ValueError: nul",
    OwnError(7, "no luck"): "OwnError: no luck (7)",
    MuteError(): "MuteError: <exception str() failed>",
    QuittingError(): "rms_norm: failing: the kernel raised an exception without a text",
    PlainBaseError("odd"): "PlainBaseError: odd",
    SystemExit(3): "SystemExit: 3",
    KeyboardInterrupt(): "KeyboardInterrupt: ",
    GeneratorExit(): "GeneratorExit: ",
    KnownError(8, "known"): "KnownError: known (8)",
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"): "UnicodeDecodeError: 'utf-8' codec",
    NamelessError("who?"): "rms_norm: failing: the kernel raised an exception without a text",
}


def objects() -> None:
    """Get the same object, whatever its class and text are."""
    for error, text in RAISED.items():

        def fail(*_: Any, error: BaseException = error, **__: Any) -> None:
            raise error

        def ask(*_: Any, error: BaseException = error, **__: Any) -> None:
            raise error

        with backend.register_kernel("rms_norm", fail, name="failing"):
            for name, call in CALLERS.items():
                make = partial(call, "rms_norm", X, WEIGHT)
                if name.startswith("jax"):
                    expect((jax.errors.JaxRuntimeError, ValueError), text, make)
                else:
                    assert same(error, make), (name, type(error))
        with backend.register_kernel("rms_norm", fail, name="failing", supported=ask):
            assert same(error, partial(opcast_numpy.rms_norm, X, WEIGHT)), type(error)


def same(error: BaseException, make: Any) -> bool:
    """Tell whether a call raises an exception."""
    try:
        make()
    except BaseException as raised:
        return raised is error
    return False


def interrupt() -> None:
    """Interrupt a kernel, as Ctrl-C does."""
    seen: list[BaseException] = []

    def wait(*_: Any, **__: Any) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException as raised:
            seen.append(raised)
            raise

    with backend.register_kernel("rms_norm", wait, name="waiting"):
        for name, call in CALLERS.items():
            if not name.startswith("jax"):
                raised = expect(KeyboardInterrupt, "", partial(call, "rms_norm", X, WEIGHT))
                assert raised is seen.pop(), name


def attempt(outcomes: Counter[str]) -> None:
    """Make a call, and count how it ends; the handler raises in here only."""
    try:
        run(Y_TENSOR, X_TENSOR)
    except Exception as raised:
        outcomes[f"{type(raised).__name__}: {raised}"] += 1


# Without what an adaptor does if a call fails, which is to make it again.
run: Any = backend.faithful(backend.function(RELU.name, RELU.schema))


def storm() -> None:
    """Let signals come so fast that exceptions meet each other: one of them reaches the caller."""
    outcomes: Counter[str] = Counter()

    def ring(_: int, frame: Any) -> None:
        while frame is not None:
            if frame.f_code is attempt.__code__:
                raise AlarmError("ring")
            frame = frame.f_back

    def fail(*_: Any, **__: Any) -> None:
        raise OwnError(7, "no luck")

    before_hook, sys.unraisablehook = sys.unraisablehook, id  # tvm-ffi prints what it loses
    before = signal.signal(signal.SIGALRM, ring)
    with backend.register_kernel("eltwise_relu", fail, name="failing"):
        signal.setitimer(signal.ITIMER_REAL, 2e-4, 2e-4)
        for _ in range(CALLS):
            try:
                attempt(outcomes)
            except AlarmError:
                outcomes["AlarmError: ring"] += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    sys.unraisablehook = before_hook
    assert outcomes.keys() <= {
        "OwnError: no luck (7)",
        "AlarmError: ring",
        # What signals raise before the kernel begins is tvm-ffi's to hand on.
        "RuntimeError: ring",
        "RuntimeError: eltwise_relu: failing: the kernel failed, and its exception was lost",
    }, outcomes
    assert sum(outcomes.values()) >= CALLS, outcomes


faulthandler.enable()
for test in (objects, interrupt, storm):
    test()
print("ok")
