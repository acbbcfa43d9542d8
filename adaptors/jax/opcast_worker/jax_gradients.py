"""The gradients that JAX's ways to transform an op ask for.

By a complex number z = x + iy, the suite's are those by x plus i times those by y. JAX's are the conjugates, so that
cotangents are conjugated on their way in, and gradients on their way out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from opcast_worker.transform import Task


def floating(x: Any) -> bool:
    """Say whether an array has gradients: those of integers have none."""
    return np.issubdtype(x.dtype, np.inexact) or x.dtype.kind == "V"


def weighted(results: Any, cotangents: Any) -> Any:
    """Return the number whose gradient has the cotangents as those of the results."""
    pairs = [(r, c) for r, c in zip(results, cotangents) if floating(r)]
    return sum((r * conjugate(c)).sum().real for r, c in pairs)


def conjugate(x: Any) -> Any:
    """Return the conjugates of complex numbers; other arrays as they are."""
    return x.conj() if x.dtype.kind == "c" else x


def differentiated(
    jax: Any, function: Callable[..., Any], wrt: tuple[int, ...], **options: Any
) -> Any:
    """Return the function that gives the gradients of another one, and what else that returns."""
    of = jax.grad(function, wrt, **options)

    def call(*arrays: Any) -> Any:
        if not options:
            return tuple(map(conjugate, of(*arrays)))
        found, results = of(*arrays)
        return tuple(map(conjugate, found)), results

    return call


def vjp(jax: Any, function: Callable[..., Any], *inputs: Any) -> Any:
    """Return results, and the function from their cotangents to gradients."""
    results, pull = jax.vjp(function, *inputs)

    def back(cotangents: Any) -> tuple[Any, ...]:
        return tuple(map(conjugate, pull(pulled(jax, cotangents))))

    return results, back


def pulled(jax: Any, cotangents: Any) -> tuple[Any, ...]:
    """Return cotangents as jax.vjp takes them: those of integers have a dtype of their own."""
    zero = jax.dtypes.float0
    return tuple(conjugate(c) if floating(c) else np.zeros(c.shape, zero) for c in cotangents)


def gradients(task: Task) -> Callable[..., Any]:
    """Return a function of the inputs and cotangents that gives the results and the gradients of the wanted inputs."""
    jax, wrt = task.caller.jax, task.options.get("wrt", [])
    count = len(task.calls[0].inputs)

    def call(*arrays: Any) -> Any:
        inputs, cotangents = arrays[:count], arrays[count:]
        if not wrt:
            return [*task.function(*inputs)]

        def of(*chosen: Any) -> Any:
            return task.function(*replaced(inputs, wrt, chosen))

        chosen = [inputs[i] for i in wrt]
        if task.options.get("sum"):  # JAX makes the cotangent

            def total(*chosen: Any) -> Any:
                results = of(*chosen)
                return next(r for r in results if floating(r)).sum().real, results

            places = tuple(range(len(wrt)))
            found, results = differentiated(jax, total, places, has_aux=True)(*chosen)
            return [*results, *found]
        results, pull = vjp(jax, of, *chosen)
        return [*results, *pull(cotangents)]

    return call


def replaced(values: Any, places: list[int], chosen: Any) -> list[Any]:
    """Return a copy of values with the chosen ones in their places."""
    values = [*values]
    for place, value in zip(places, chosen):
        values[place] = value
    return values
