"""Register kernels and call them through every adaptor: arrays, exceptions, removal, refusals."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import opcast_backend as backend
import opcast_numpy
import opcast_torch
from pykernel_callers import CALLERS, DTYPES, OwnError, expect, jax, numpy_, torch


def norm(y: Any, x: Any, weight: Any, *, eps: float) -> None:
    """Mark the results of rms_norm, and check what a kernel gets."""
    assert all(type(a) is np.ndarray and a.dtype == x.dtype for a in (y, x, weight))
    assert x.dtype in DTYPES and y.shape == x.shape
    assert y.flags.writeable and not x.flags.writeable and type(eps) is float
    y[...] = x + weight + eps


def adaptors() -> None:
    """Reach a kernel by every adaptor, in every dtype, and no more when it is removed."""
    x: Any = np.arange(6, dtype=np.float32).reshape(2, 3)
    weight = np.ones(3, np.float32)
    before = {name: call("rms_norm", x, weight) for name, call in CALLERS.items()}
    with backend.register_kernel("rms_norm", norm, name="marked") as kernel:
        assert backend.kernels("rms_norm")[0] == "marked", backend.kernels("rms_norm")
        assert repr(kernel) == "<kernel marked of rms_norm on cpu>"
        for name, call in CALLERS.items():
            for dtype in DTYPES:
                got = call("rms_norm", x.astype(dtype), weight.astype(dtype), eps=2.0)
                assert got.dtype == dtype and (got == x.astype(dtype) + 3).all(), (name, got)
        with backend.use_kernel("rms_norm", "rms_norm"):
            for name, call in CALLERS.items():
                assert (call("rms_norm", x, weight) == before[name]).all(), name
        with backend.use_kernel("rms_norm", "marked"):
            kernel.remove()  # who forces it is left with dispatch
            assert (numpy_("rms_norm", x, weight) == before["numpy_"]).all()
    for name, call in CALLERS.items():
        assert (call("rms_norm", x, weight) == before[name]).all(), name
    assert "marked" not in backend.kernels("rms_norm")


def predicates() -> None:
    """Run the newest kernel that takes the call; a predicate sees descriptions."""
    seen: list[Any] = []

    def few(y: Any, x: Any, weight: Any, *, eps: float) -> Any:
        seen.append(x)
        assert y.shape == x.shape and weight.strides == (1,) and eps == 1e-6
        return None if x.shape[0] == 1 else "needs one row"

    def write(value: float) -> Callable[..., None]:
        def kernel(y: Any, *_: Any, **__: Any) -> None:
            y[...] = value

        return kernel

    one, two, weight = np.ones((1, 3), "f4"), np.ones((2, 3), "f4"), np.ones(3, "f4")
    with (
        backend.register_kernel("rms_norm", write(1), name="old"),
        backend.register_kernel("rms_norm", write(2), name="few", supported=few),
        backend.register_kernel(
            "rms_norm", write(3), name="never", supported=lambda *_, **__: False
        ),
    ):
        for name, call in CALLERS.items():
            assert call("rms_norm", one, weight).mean() == 2, name
            assert call("rms_norm", two, weight).mean() == 1, name
        spec = seen[0]
        assert spec == ((1, 3), "float32", "cpu", (3, 1)), spec
        with backend.use_kernel("rms_norm", "few"):
            text = "rms_norm: no kernel takes this call on cpu: few: needs one row"
            expect(NotImplementedError, text, lambda: numpy_("rms_norm", two, weight))
        lines = backend.explain("rms_norm", two, weight).splitlines()
        found = [line.split()[1:] for line in lines if line.startswith("kernel")]
        assert found[:4] == [
            "never on cpu: its predicate says no".split(),
            "few on cpu: needs one row".split(),
            "old on cpu: yes".split(),
            "rms_norm on cpu: yes".split(),
        ], found


def exceptions() -> None:
    """Get what a kernel raises as it is, after one run; inputs are as the kernel left them."""
    x, weight = np.ones((2, 3), "f4"), np.ones(3, "f4")
    for error in (
        OwnError(7, "no luck"),
        ValueError("odd"),
        KeyboardInterrupt("stop"),
        OSError(2, "gone"),
    ):
        calls: list[int] = []

        def fail(*arrays: Any, raised: Any = error, calls: Any = calls, **_: Any) -> None:
            calls.append(1)
            if calls[1:]:
                raise AssertionError("it was tried again")
            for a in arrays:
                if a.flags.writeable:
                    np.add(a, 1, out=a)
            raise raised

        for op, arrays in (("rms_norm", (x, weight)), ("fused_add_rms_norm", (x, x, weight))):
            with backend.register_kernel(op, fail, name="failing"):
                for name, call in CALLERS.items():
                    calls.clear()
                    copies: list[Any] = [a.copy() for a in arrays]
                    run = partial(call, op, *copies)
                    if name.startswith("jax"):
                        text = f"{type(error).__name__}: {error}"
                        expect((jax.errors.JaxRuntimeError, ValueError), text, run)
                    else:
                        got = expect(type(error), str(error), run)
                        assert got is error and got.__context__ is None, (name, op)
                        assert op == "rms_norm" or (copies[0] == 2).all(), (name, copies[0])
                    assert len(calls) == 1, (name, op)

    def confused(*_: Any, **__: Any) -> None:
        raise OwnError(8, "what?")

    with backend.register_kernel("rms_norm", norm, name="asks", supported=confused):
        expect(OwnError, "what? (8)", lambda: numpy_("rms_norm", x, weight))


def gradients() -> None:
    """Reach a gradient op's kernel; its exceptions pass through autograd."""
    x = torch.ones(2, 3, requires_grad=True)
    weight = torch.ones(3)

    def gradient() -> None:
        result: Any = opcast_torch.rms_norm(x, weight)
        result.sum().backward()

    def grad(grad_x: Any, grad_weight: Any, *_: Any, **__: Any) -> None:
        grad_x[...] = 5
        grad_weight[...] = 6

    def fail(*_: Any, **__: Any) -> None:
        raise OwnError(1, "backwards")

    with backend.register_kernel("rms_norm_backward", grad, name="fives"):
        gradient()
        assert x.grad is not None and (x.grad == 5).all(), x.grad
    with backend.register_kernel("rms_norm_backward", fail, name="failing"):
        expect(OwnError, "backwards", gradient)


def refusals() -> None:
    """Have refused, by name, what cannot be registered."""
    register: Any = backend.register_kernel
    expect(
        ValueError,
        "nonsense: expected an op of opcast",
        lambda: register("nonsense", norm, name="a"),
    )
    expect(
        TypeError,
        "rms_norm: fn: expected a callable, got int",
        lambda: register("rms_norm", 1, name="a"),
    )
    expect(
        ValueError,
        "rms_norm: name: expected a new name, got 'rms_norm'",
        lambda: register("rms_norm", norm, name="rms_norm"),
    )
    expect(
        ValueError,
        "rms_norm: name: expected an identifier, got 'a,b'",
        lambda: register("rms_norm", norm, name="a,b"),
    )
    expect(
        ValueError,
        "rms_norm: framework: expected numpy, torch or dlpack, got 'cupy'",
        lambda: register("rms_norm", norm, name="a", framework="cupy"),
    )

    def wrong(_: Any, x: Any, weight: Any, **__: Any) -> Any:
        return x + weight

    with register("rms_norm", wrong, name="wrong"):
        text = "rms_norm: expected kernel wrong to write its outputs and return None, got ndarray"
        expect(TypeError, text, lambda: numpy_("rms_norm", np.ones((1, 2), "f4"), np.ones(2, "f4")))
    before = backend.devices("rms_norm")
    with register("rms_norm", norm, name="on_cuda", device="cuda", framework="torch"):
        assert backend.devices("rms_norm") == ("cpu", "cuda"), backend.devices("rms_norm")
    assert backend.devices("rms_norm") == before


assert opcast_numpy.kernels is backend.kernels
for test in (adaptors, predicates, exceptions, gradients, refusals):
    test()
print("ok")
