"""JAX's ways to transform an op: compile, export, map, differentiate."""

from __future__ import annotations

from typing import Any

from opcast_worker.bound import Answer, Request, Unsupported
from opcast_worker.jax_compose import WAYS as COMPOSED
from opcast_worker.jax_derivatives import WAYS as DERIVED
from opcast_worker.jax_gradients import (
    conjugate,
    differentiated,
    floating,
    gradients,
    pulled,
    weighted,
)
from opcast_worker.jax_sharding import WAYS as SHARDED
from opcast_worker.transform import Arrays, Task
from opcast_worker.transform import answer as transformed

COMPILED = "/jax/core/compile/backend_compile_duration"


class Compilations:
    """Counts what XLA compiles."""

    def __init__(self, jax: Any) -> None:
        """Listen."""
        self.count = 0
        jax.monitoring.register_event_duration_secs_listener(self.heard)

    def heard(self, event: str, duration: float, **rest: Any) -> None:
        """Count a compilation."""
        del duration, rest
        self.count += event == COMPILED


def jit(task: Task) -> None:
    """Compile; facts: how many compilations each call cost."""
    if not hasattr(task.caller, "compilations"):
        task.caller.compilations = Compilations(task.caller.jax)
    counter = task.caller.compilations
    function = task.caller.compiled(gradients(task))
    costs: list[int] = []
    for arrays in task.calls:
        before = counter.count
        task.run(lambda arrays=arrays: function(*arrays.inputs, *arrays.cotangents))
        costs.append(counter.count - before)
    task.facts["costs"] = costs


def allowed(task: Task) -> list[Any]:
    """Return the permissions to export our custom calls."""
    check = task.caller.jax.export.DisabledSafetyCheck.custom_call
    namespace = task.caller.config["namespace"]
    return [check(f"{namespace}.{op}") for op in task.watched]


def export(task: Task) -> None:
    """Export with variable sizes and the gradient, serialize, load; facts: the result types of the program."""
    jax = task.caller.jax
    ranges = task.options["ranges"].items()
    least = [f"{name} >= {low}" for name, (low, _) in ranges]
    most = [f"{name} <= {high}" for name, (_, high) in ranges if high is not None]
    scope = jax.export.SymbolicScope([*least, *most])
    first = task.calls[0]
    specs = [
        jax.ShapeDtypeStruct(jax.export.symbolic_shape(symbolic(x, axes), scope=scope), x.dtype)
        for x, axes in zip(first.inputs, task.options["axes"])
    ]
    wrt = task.options["wrt"]

    def function(*inputs: Any) -> Any:  # the program's gradient is that by all inputs
        values = [jax.lax.stop_gradient(x) if i not in wrt else x for i, x in enumerate(inputs)]
        return task.function(*values)

    program = jax.export.export(jax.jit(function), disabled_checks=allowed(task))(*specs)
    try:
        text = program.serialize(vjp_order=1 if wrt else 0)
    except ImportError as error:  # JAX does not require what it writes programs with
        raise Unsupported(f"jax.export cannot write a program here: {error}") from None
    loaded = jax.export.deserialize(text)
    task.facts["types"] = [f"{a.dtype}{list(a.shape)}" for a in loaded.out_avals]

    def call(arrays: Arrays) -> Any:
        results = loaded.call(*arrays.inputs)
        if not wrt:
            return results
        found = loaded.vjp().call(*arrays.inputs, *pulled(jax, arrays.cotangents))
        return [*results, *[conjugate(found[i]) for i in wrt]]

    task.each(call)


def symbolic(array: Any, axes: dict[str, str]) -> str:
    """Return the shape of an array with some of its sizes variable."""
    return ", ".join(axes.get(str(i), str(n)) for i, n in enumerate(array.shape))


def vmap(task: Task) -> None:
    """Map over the axes of the options, the outermost level first."""
    function = task.function
    for level in reversed(task.options["levels"]):
        function = task.caller.jax.vmap(function, tuple(level))
    task.each(lambda arrays: function(*arrays.inputs))


def grad(task: Task) -> None:
    """Differentiate."""
    function = gradients(task)
    task.each(lambda arrays: function(*arrays.inputs, *arrays.cotangents))


def second(task: Task) -> None:
    """Differentiate, then differentiate the gradients, also by the cotangents."""
    task.facts["advice"] = "apply jax.lax.stop_gradient to the inputs"
    jax, wrt = task.caller.jax, tuple(task.options["wrt"])
    (arrays,) = task.calls
    count = len(arrays.inputs)
    values = arrays.inputs + arrays.cotangents

    def total(*values: Any) -> Any:
        return weighted(task.function(*values[:count]), values[count:])

    def again(*values: Any) -> Any:
        return sum(g.sum().real for g in jax.grad(total, wrt)(*values))

    places = (*wrt, *[i for i in range(count, len(values)) if floating(values[i])])
    task.run(lambda: differentiated(jax, total, wrt)(*values), "first")
    task.run(lambda: jax.grad(again, places)(*values), "second")


WAYS: Request = {
    "jit": jit,
    "export": export,
    "vmap": vmap,
    "grad": grad,
    "second": second,
    **COMPOSED,
    **DERIVED,
    **SHARDED,
}


def answer(caller: Any, request: Request, blobs: list[bytes]) -> Answer:
    """Do what a request asks for."""
    return transformed(caller, WAYS, caller.jax.block_until_ready, request, blobs)
