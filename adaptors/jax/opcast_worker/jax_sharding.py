"""JAX's ways to spread an op over the simulated devices."""

from __future__ import annotations

from typing import Any

import numpy as np
from opcast_worker.bound import Request
from opcast_worker.jax_gradients import gradients, vjp
from opcast_worker.transform import Arrays, Task

AXES = ("i", "j")


class Spread:
    """A mesh and the arrays of a task on it.

    The task's options say ``mesh`` (the shape), ``explicit`` and the partition of each array: ``inputs``, ``cotangents``.
    """

    def __init__(self, task: Task) -> None:
        """Make the mesh."""
        self.jax, self.options = task.caller.jax, task.options
        shape = tuple(self.options["mesh"])
        kinds = self.jax.sharding.AxisType
        kind = kinds.Explicit if self.options.get("explicit") else kinds.Auto
        self.mesh = self.jax.make_mesh(shape, AXES[: len(shape)], axis_types=(kind,) * len(shape))
        self.specs = [self.spec(p) for p in self.options["inputs"] + self.options["cotangents"]]

    def spec(self, partition: list[str]) -> Any:
        """Return a partition as JAX writes it."""
        return self.jax.sharding.PartitionSpec(*[name or None for name in partition])

    def place(self, arrays: Arrays) -> list[Any]:
        """Return inputs and cotangents on the mesh; JAX would compile a program that cuts an array of its own."""
        sharding = self.jax.sharding.NamedSharding
        values = map(np.asarray, arrays.inputs + arrays.cotangents)
        return [self.jax.device_put(x, sharding(self.mesh, s)) for x, s in zip(values, self.specs)]


def sharded(task: Task) -> None:
    """Compile for sharded arrays and call.

    Facts per call: the text of the compiled program, and the shapes of the parts of every result.
    """
    spread = Spread(task)
    function = gradients(task)
    texts: list[str] = []
    shards: list[Any] = []

    def call(arrays: Arrays) -> Any:
        with spread.jax.set_mesh(spread.mesh):
            values = spread.place(arrays)
            program = task.caller.compiled(function).lower(*values).compile()
            texts.append(program.as_text())
            results = program(*values)
        shards.append([[list(s.data.shape) for s in x.addressable_shards] for x in results])
        return results

    task.each(call)
    task.facts.update(hlo=texts, shards=shards)


def uneven(task: Task) -> None:
    """Divide arrays inside of the program into parts of different sizes, of which the smaller ones are padded.

    Padding is zero, which adds nothing to a sum. So floats come as their bits with those of 1 flipped, and become
    floats in parts: then padding is 1.
    """
    spread = Spread(task)
    jax, function = spread.jax, gradients(task)
    bitcast = jax.lax.bitcast_convert_type

    def real(x: Any) -> bool:
        return jax.numpy.issubdtype(x.dtype, jax.numpy.floating)

    def bits(x: Any) -> Any:
        return x.view(f"uint{8 * x.itemsize}") ^ bits_of_one(x.dtype) if real(x) else x

    def bits_of_one(dtype: Any) -> Any:
        return np.ones((), dtype).view(f"uint{8 * dtype.itemsize}")

    def call(arrays: Arrays) -> Any:
        values = arrays.inputs + arrays.cotangents

        def part(given: Any, x: Any, spec: Any) -> Any:
            sharding = jax.sharding.NamedSharding(spread.mesh, spec)
            held = jax.lax.with_sharding_constraint(given, sharding)
            return bitcast(held ^ bits_of_one(x.dtype), x.dtype) if real(x) else held

        def program(*given: Any) -> Any:
            return function(*map(part, given, values, spread.specs))

        whole = jax.sharding.NamedSharding(spread.mesh, jax.sharding.PartitionSpec())
        placed = [jax.device_put(bits(np.asarray(x)), whole) for x in values]
        with jax.set_mesh(spread.mesh):
            return jax.jit(program)(*placed)

    task.each(call)


def shard_map(task: Task) -> None:
    """Call on the parts, in a loop inside of jax.shard_map, and differentiate the whole."""
    spread = Spread(task)
    jax, count, wrt = spread.jax, len(task.calls[0].inputs), task.options["wrt"]
    outputs = tuple(spread.spec(p) for p in task.options["outputs"])

    def body(carry: int, arrays: Any) -> Any:
        return carry, task.function(*arrays)

    def local(*inputs: Any) -> Any:
        stacked = [jax.numpy.stack([x, x]) for x in inputs]
        _, results = jax.lax.scan(body, 0, stacked)
        return tuple(r[1] for r in results)

    def over(function: Any) -> Any:
        specs = tuple(spread.specs[:count])
        return jax.shard_map(
            function, mesh=spread.mesh, in_specs=specs, out_specs=outputs, check_vma=True
        )

    def differentiated(*arrays: Any) -> Any:
        inputs, cotangents = arrays[:count], arrays[count:]

        def of(*chosen: Any) -> Any:
            values = [*inputs]
            for place, value in zip(wrt, chosen):
                values[place] = value
            return over(task.function)(*values)

        results, pull = vjp(jax, of, *[inputs[i] for i in wrt])
        return [*results, *pull(cotangents)]

    def call(arrays: Arrays, function: Any, known: int) -> Any:
        with jax.set_mesh(spread.mesh):
            return jax.jit(function)(*spread.place(arrays)[:known])

    task.each(lambda arrays: call(arrays, over(local), count), "loop")
    if wrt:
        task.each(lambda arrays: call(arrays, differentiated, count + len(outputs)), "gradients")


WAYS: Request = {"sharded": sharded, "uneven": uneven, "shard_map": shard_map}
