"""End a process whose registered kernels are still in use: by XLA, and by threads that nobody joins."""

import atexit
import contextlib
import faulthandler
import sys
import threading
import time
from importlib import import_module
from typing import Any

import numpy as np
import opcast_backend as backend
import opcast_numpy

faulthandler.dump_traceback_later(60, exit=True)  # a deadlock shows where
how = sys.argv[1]
x = np.ones((2, 3), "f4")
running = threading.Event()


def slow(c: Any, a: Any, b: Any) -> None:
    """Be in the middle of it when the process ends."""
    running.set()
    time.sleep(0.05)
    c[...] = a + b


if how != "late":
    backend.register_kernel("eltwise_add", slow, name="slow")
if how in {"xla", "late"}:
    import opcast_jax
    import opcast_torch

    jax: Any = import_module("jax")
    jnp: Any = import_module("jax.numpy")
    torch: Any = import_module("torch")

    backend.register_kernel("eltwise_add", slow, name="slower")
    assert opcast_torch.eltwise_add(torch.ones(3), torch.ones(3))[0] == 2

    def twice(a: Any, b: Any) -> Any:
        """Call the op on a result of the op."""
        return opcast_jax.eltwise_add(opcast_jax.eltwise_add(a, b), b)

    add = jax.jit(twice)
    pending = [add(jnp.asarray(x + i), jnp.asarray(x)) for i in range(10)]
if how in {"daemon", "failing"}:

    def fail(*_: Any) -> None:
        """Have an exception on its way when the process ends."""
        running.set()
        time.sleep(0.05)
        raise OSError("no")

    def once() -> None:
        """Call, and stay where nothing can go wrong."""
        with contextlib.suppress(OSError):
            opcast_numpy.eltwise_add(x, x)
        threading.Event().wait()

    if how == "failing":
        backend.register_kernel("eltwise_add", fail, name="fail")
    for _ in range(8):
        threading.Thread(target=once, daemon=True).start()
if how == "idle":
    running.set()
if how == "atexit":
    # Runs before ours, since it was registered later; and one before everything.
    atexit.register(lambda: print(float(opcast_numpy.eltwise_add(x, x)[0, 0])))
    running.set()
running.wait()
print("ok")
