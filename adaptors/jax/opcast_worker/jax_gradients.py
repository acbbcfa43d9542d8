"""The gradients that JAX's ways to transform an op ask for."""

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
    return sum((r * c).sum() for r, c in zip(results, cotangents) if floating(r))


def pulled(jax: Any, cotangents: Any) -> tuple[Any, ...]:
    """Return cotangents as jax.vjp takes them: those of integers have a dtype of their own."""
    return tuple(c if floating(c) else np.zeros(c.shape, jax.dtypes.float0) for c in cotangents)


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
                return next(r for r in results if floating(r)).sum(), results

            places = tuple(range(len(wrt)))
            found, results = jax.grad(total, places, has_aux=True)(*chosen)
            return [*results, *found]
        results, pull = jax.vjp(of, *chosen)
        return [*results, *pull(pulled(jax, cotangents))]

    return call


def replaced(values: Any, places: list[int], chosen: Any) -> list[Any]:
    """Return a copy of values with the chosen ones in their places."""
    values = [*values]
    for place, value in zip(places, chosen):
        values[place] = value
    return values
