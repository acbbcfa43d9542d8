"""Call registered kernels from many threads, PyTorch's and XLA's among them, while others come and go."""

import faulthandler
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import opcast_backend as backend
import opcast_jax
import opcast_numpy
import opcast_torch

# Partly untyped.
jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
torch: Any = import_module("torch")

faulthandler.dump_traceback_later(100, exit=True)  # a deadlock shows where

X = np.arange(6, dtype=np.float32).reshape(2, 3)
ONES = np.ones_like(X)
PLAIN, MARKED = X + ONES, X - ONES
_jitted: Any = jax.jit(opcast_jax.eltwise_add)


def subtract(c: Any, a: Any, b: Any) -> None:
    """Mark a result, and let other threads in meanwhile."""
    difference = a - b
    time.sleep(0)
    c[...] = difference


def by_numpy() -> Any:
    """Call through NumPy."""
    return opcast_numpy.eltwise_add(X, ONES)


def by_torch() -> Any:
    """Call through PyTorch."""
    return opcast_torch.eltwise_add(torch.from_numpy(X), torch.from_numpy(ONES)).numpy()


def by_jax() -> Any:
    """Call through XLA, which may run the kernel in a thread of its own."""
    results = [_jitted(jnp.asarray(X), jnp.asarray(ONES)) for _ in range(3)]
    return np.asarray(results[-1].block_until_ready())


def churn() -> None:
    """Every call gets one kernel or the other, whole."""
    stop, faults, counts = threading.Event(), list[BaseException](), {"plain": 0, "marked": 0}

    def loop(call: Callable[[], Any]) -> None:
        try:
            while not stop.is_set():
                got = call()
                if (got == PLAIN).all():
                    counts["plain"] += 1
                elif (got == MARKED).all():
                    counts["marked"] += 1
                else:
                    raise AssertionError(got)
        except BaseException as fault:
            faults.append(fault)

    calls = (by_numpy, by_torch, by_jax, by_numpy, by_torch, by_jax, by_numpy, by_jax)
    threads = [threading.Thread(target=loop, args=(c,)) for c in calls]
    for thread in threads:
        thread.start()
    for i in range(60):
        with backend.register_kernel("eltwise_add", subtract, name=f"subtract_{i}"):
            time.sleep(0.005)
            with backend.use_kernel("eltwise_add", f"subtract_{i}"):
                time.sleep(0.005)
        time.sleep(0.005)
    stop.set()
    for thread in threads:
        thread.join()
    assert not faults, faults
    assert all(counts.values()), counts
    assert backend.kernels("eltwise_add")[0] == "eltwise_add", backend.kernels("eltwise_add")


def removal() -> None:
    """Remove kernels from inside and under calls, which end with them."""
    for call in (by_numpy, by_torch, by_jax):
        handles: list[Any] = []

        def once(c: Any, a: Any, b: Any, handles: Any = handles) -> None:
            handles[0].remove()
            subtract(c, a, b)

        handles.append(backend.register_kernel("eltwise_add", once, name="once"))
        first, second = call(), call()
        assert (second == PLAIN).all(), call
        assert (first == (PLAIN if call is by_jax else MARKED)).all(), call  # the last of three

    begun, go, results = threading.Event(), threading.Event(), list[Any]()

    def slow(c: Any, a: Any, b: Any) -> None:
        begun.set()
        go.wait()
        subtract(c, a, b)

    kernel = backend.register_kernel("eltwise_add", slow, name="slow")
    thread = threading.Thread(target=lambda: results.append(by_numpy()))
    thread.start()
    begun.wait()
    kernel.remove()
    kernel.remove()  # does nothing more
    assert (by_numpy() == PLAIN).all()
    go.set()
    thread.join()
    assert (results[0] == MARKED).all()


def nested() -> None:
    """Call other ops from a kernel, and the functions that change kernels."""

    def outer(y: Any, x: Any) -> None:
        with backend.register_kernel("eltwise_add", subtract, name="inner"):
            y[...] = opcast_numpy.eltwise_add(np.array(x), np.array(x)) + 7

    with backend.register_kernel("eltwise_relu", outer, name="outer"):
        assert (opcast_numpy.eltwise_relu(X) == 7).all()
        assert (opcast_torch.eltwise_relu(torch.from_numpy(X)).numpy() == 7).all()
        assert (np.asarray(jax.jit(opcast_jax.eltwise_relu)(jnp.asarray(X))) == 7).all()


for test in (churn, removal, nested):
    test()
print("ok")
