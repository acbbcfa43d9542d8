"""Calls behind work that JAX has not finished, and in command buffers, which XLA records of compiled programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opcast_worker.bound import Bound, Probes, Report
from opcast_worker.streams import results, substituted

SIZE, ROUNDS = 4096, 40
"""Of a delay: so many products of square matrices, some milliseconds of work."""

RUNS = 4
"""Of a compiled program: XLA records a command buffer after the first and updates it afterwards."""

RECORDED = {"xla_gpu_graph_min_graph_size": 1}
"""Has XLA record a short program."""


class Streams(Probes):
    """Probes of the order of work on the device."""

    def probe_side_producer(self, call: Bound) -> Any:
        """Call right behind a slow program that makes the arguments, without waiting for it."""
        jax, np = self.framework, self.framework.numpy

        def produce(x: Any, m: Any) -> Any:
            def times(_: Any, y: Any) -> Any:
                return y @ m

            busy: Any = jax.lax.fori_loop(0, ROUNDS, times, m)
            return np.where(busy[0, 0] == np.inf, np.zeros_like(x), x)

        slow = jax.jit(produce)
        matrix = np.zeros((SIZE, SIZE), np.float32)
        for x in call.arrays():
            jax.block_until_ready(slow(x, matrix))  # compiled before it matters
        return jax.block_until_ready(call.map(lambda x: slow(x, matrix))())

    def probe_graph_replayed(self, call: Bound) -> Any:
        """Run a program of several calls with zeros, then with the real contents: what was recorded must follow."""
        jax = self.framework
        zeros, _ = substituted(call, jax.numpy.zeros_like)

        def program(arrays: dict[int, Any]) -> list[Any]:
            args = [arrays.get(i, a) for i, a in enumerate(call.args)]
            every = [results(replace(call, args=args)()) for _ in range(3)]
            return [r for made in every for r in made if r is not None]

        compiled = jax.jit(program, compiler_options=RECORDED)
        inputs = [
            {i: a for i, a in enumerate(c.args) if isinstance(a, call.kind)} for c in (zeros, call)
        ]
        made: list[Any] = []
        for run in range(RUNS):
            made = jax.block_until_ready(compiled(inputs[run >= RUNS // 2]))
        count = len(made) // 3
        ends: list[list[Any]] = [jax.device_get(made[:count]), jax.device_get(made[-count:])]
        agree = all(a.tobytes() == b.tobytes() for a, b in zip(*ends))
        plain = results(call())
        present = iter(made)
        first = [None if r is None else next(present) for r in plain]
        return Report(first, {"all calls of the program agree": agree})


create = Streams
