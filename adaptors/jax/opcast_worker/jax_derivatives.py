"""The derivatives of derivatives, and tangents, that JAX's ways to transform an op ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opcast_worker.bound import Request
from opcast_worker.jax_gradients import floating, replaced, vjp
from opcast_worker.transform import Task


def pulling(task: Task) -> tuple[Callable[..., Any], list[Any]]:
    """Return the gradients as a function of the wanted inputs and the cotangents, and values of these."""
    jax, wrt, arrays = task.caller.jax, task.options["wrt"], task.calls[0]
    smooth = [i for i, c in enumerate(arrays.cotangents) if floating(c)]

    def gradients(*chosen: Any) -> Any:
        inputs, cotangents = chosen[: len(wrt)], chosen[len(wrt) :]
        full = replaced(arrays.cotangents, smooth, cotangents)

        def of(*inputs: Any) -> Any:
            return task.function(*replaced(arrays.inputs, wrt, inputs))

        return vjp(jax, of, *inputs)[1](full)

    return gradients, [arrays.inputs[i] for i in wrt] + [arrays.cotangents[i] for i in smooth]


def again(task: Task) -> None:
    """Differentiate the gradients, weighted, by inputs and cotangents; in every spelling."""
    jax, weights = task.caller.jax, tuple(task.calls[1].inputs)
    gradients, values = pulling(task)

    def twice(*values: Any) -> Any:
        found, pull = vjp(jax, gradients, *values)
        return [*found, *pull(tuple(weights))]

    def jitted(*values: Any) -> Any:
        found, pull = vjp(jax, jax.jit(gradients), *values)
        return [*found, *pull(tuple(weights))]

    def checkpointed(*values: Any) -> Any:
        found, pull = vjp(jax, jax.checkpoint(gradients), *values)
        return [*found, *pull(tuple(weights))]

    spellings = {
        "vjp(vjp)": twice,
        "jit(vjp(vjp))": jax.jit(twice),
        "vjp(jit(vjp))": jitted,
        "vjp(checkpoint(vjp))": checkpointed,
    }
    task.run_all(spellings, *values)


def tangents(task: Task) -> None:
    """Return results and tangents, of the op or of its gradients; in every spelling."""
    jax, wrt = task.caller.jax, task.options["wrt"]
    arrays, moving = task.calls[0], tuple(task.calls[1].inputs)

    def plain(*chosen: Any) -> Any:
        return task.function(*replaced(arrays.inputs, wrt, chosen))

    of, values = plain, [arrays.inputs[i] for i in wrt]
    if task.options.get("gradients"):
        of, values = pulling(task)

    def flat(results: Any, moved: Any) -> list[Any]:
        return [*results, *[t for r, t in zip(results, moved) if floating(r)]]

    def jvp(*both: Any) -> Any:
        return flat(*jax.jvp(of, both[: len(values)], both[len(values) :]))

    def of_jit(*both: Any) -> Any:
        return flat(*jax.jvp(jax.jit(of), both[: len(values)], both[len(values) :]))

    def linearize(*both: Any) -> Any:
        results, push = jax.linearize(of, *both[: len(values)])
        return flat(results, push(*both[len(values) :]))

    def mapped(*both: Any) -> Any:
        stacked = [jax.numpy.stack([x, x]) for x in both]
        return [x[1] for x in jax.vmap(jvp)(*stacked)]

    spellings = {
        "jvp": jvp,
        "jvp(jit)": of_jit,
        "jit(jvp)": jax.jit(jvp),
        "linearize": linearize,
        "jit(linearize)": jax.jit(linearize),
        "vmap(jvp)": mapped,
    }
    task.run_all(spellings, *values, *moving)


WAYS: Request = {"gradients of gradients": again, "tangents": tangents}
