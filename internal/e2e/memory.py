"""Call ops many times, rightly and wrongly, and watch the memory of the process.

Usage: memory.py torch|jax CALLS. Prints resident memory on the way and fails if it grew by more than 1 MiB.
"""

import gc
import importlib
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

WARM_UP, REPORTS = 50_000, 10
ALLOWED = 1 << 20

Step = Callable[[], object]


def load(name: str) -> Any:
    """Import what the other framework's process does without."""
    return importlib.import_module(name)


def resident() -> int:
    """Return the resident bytes of this process."""
    gc.collect()
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def refused(call: Step) -> Step:
    """Make a step of a call that must raise."""

    def step() -> None:
        try:
            call()
        except (TypeError, ValueError, NotImplementedError):
            return
        raise AssertionError("a wrong call passed")

    return step


def torch_steps() -> "list[tuple[Step, int]]":
    """Return what one round does in PyTorch: steps, and how often each runs."""
    ops, framework = load("opcast_torch"), load("torch")
    framework.set_num_threads(1)
    x, y, residual = (framework.randn(4, 16) for _ in range(3))
    weight, wide, half = framework.randn(16), framework.randn(4, 32), framework.randn(4, 8)
    leaf, scale = framework.randn(4, 16, requires_grad=True), framework.nn.Parameter(weight.clone())

    def gradient() -> None:
        framework.autograd.grad(ops.rms_norm(leaf, scale).sum(), (leaf, scale))

    def saved() -> None:
        framework.autograd.grad(ops.layernorm2d(leaf, scale, scale).sum(), (leaf, scale))

    return [
        (lambda: ops.rms_norm(x, weight), 400),
        (lambda: ops.silu_and_mul(wide), 100),
        (lambda: ops.gemm(x, y, alpha=2, activation="relu"), 100),
        (lambda: ops.rms_norm(x, weight, out=y), 50),
        (lambda: ops.rms_norm(wide[:, ::2], weight), 50),
        (lambda: ops.fused_add_rms_norm(x, residual, weight), 100),
        (gradient, 25),
        (saved, 25),
        (refused(lambda: ops.rms_norm(x, half)), 25),
        (refused(lambda: ops.rms_norm(x, weight, eps="1")), 25),
        (refused(lambda: ops.gemm(x, y, activation="sin")), 25),
        (refused(lambda: ops.rms_norm(x, weight, out=x)), 25),
        (refused(lambda: ops.fused_add_rms_norm(x, x, weight)), 25),
        (refused(lambda: ops.fused_add_rms_norm(leaf, residual, weight)), 25),
    ]


def jax_steps() -> "list[tuple[Step, int]]":
    """Return what one round does in JAX: steps, and how often each runs."""
    ops, framework, np = load("opcast_jax"), load("jax"), load("numpy")
    jit, array = framework.jit, framework.numpy.asarray
    rng = np.random.default_rng(0)
    x, residual, wide = (array(rng.standard_normal((4, n), np.float32)) for n in (16, 16, 32))
    weight, half = array(np.ones(16, np.float32)), array(np.ones((4, 8), np.float32))

    def double(x: Any, weight: Any) -> Any:
        return ops.rms_norm(x, weight) * 2

    def relu(a: Any, b: Any) -> Any:
        return ops.gemm(a, b, alpha=2, activation="relu")

    def total(x: Any, weight: Any) -> Any:
        return (ops.rms_norm(x, weight) + ops.layernorm2d(x, weight, weight)).sum()

    norm, gate, product = jit(double), jit(ops.silu_and_mul), jit(relu)
    add = jit(ops.fused_add_rms_norm, donate_argnums=(0, 1))
    gradient = jit(framework.grad(total, (0, 1)))
    held = [x + 1, residual + 1]

    def mutate() -> None:
        held[:] = add(*held, weight)

    def derive() -> None:
        gradient(x, weight)[0].block_until_ready()

    return [
        (lambda: norm(x, weight), 500),
        (lambda: gate(wide), 100),
        (lambda: product(x, residual), 100),
        (lambda: ops.rms_norm(x, weight), 50),
        (mutate, 100),
        (derive, 100),
        (refused(lambda: ops.rms_norm(x, weight, eps="1")), 47),
        # These reach JAX's tracing, where an exception takes milliseconds.
        (refused(lambda: ops.rms_norm(x, half)), 1),
        (refused(lambda: ops.gemm(x, residual, activation="sin")), 1),
        (refused(lambda: product(x, half)), 1),
    ]


def main() -> None:
    """Warm up, then call and compare."""
    framework, calls = sys.argv[1], int(sys.argv[2])
    steps = {"torch": torch_steps, "jax": jax_steps}[framework]()
    sequence = [step for step, count in steps for _ in range(count)]

    def run(count: int) -> None:
        for _ in range(count // len(sequence)):
            for step in sequence:
                step()

    run(WARM_UP)
    before, grown = resident(), 0
    for i in range(REPORTS):
        run(calls // REPORTS)
        grown = resident() - before
        done = (i + 1) * (calls // REPORTS)
        print(f"{framework}: {done} calls after the warm-up: {grown / 1024:+.0f} KiB", flush=True)
    if grown > ALLOWED:
        sys.exit(f"{framework}: resident memory grew by {grown} bytes, {ALLOWED} are allowed")


if __name__ == "__main__":
    main()
