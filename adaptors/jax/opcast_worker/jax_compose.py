"""JAX's ways to transform an op more than once, and to ask for what it cannot do."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import numpy as np
from opcast_worker.bound import Request
from opcast_worker.jax_gradients import differentiated, gradients, weighted
from opcast_worker.transform import Arrays, Task


def loss(task: Task) -> Any:
    """Return a function whose gradient has the cotangents as those of the results: sum(results * cotangents)."""
    count = len(task.calls[0].inputs)

    def total(*arrays: Any) -> Any:
        return weighted(task.function(*arrays[:count]), arrays[count:])

    return total


def per_example(task: Task) -> None:
    """Map a gradient, compiled if the options say so."""
    jax = task.caller.jax
    function = differentiated(jax, loss(task), tuple(task.options["wrt"]))
    for level in reversed(task.options["levels"]):
        function = jax.vmap(function, tuple(level))
    run(task, function)


def of_mapped(task: Task) -> None:
    """Differentiate a mapped op, compiled if the options say so."""
    jax = task.caller.jax
    mapped = loss(task)
    for level in reversed(task.options["levels"]):
        mapped = jax.vmap(mapped, tuple(level))

    def total(*arrays: Any) -> Any:
        return mapped(*arrays).sum()

    run(task, differentiated(jax, total, tuple(task.options["wrt"])))


def run(task: Task, function: Any) -> None:
    """Call with arrays and cotangents."""
    if task.options.get("compile"):
        function = task.caller.jax.jit(function)
    task.each(lambda arrays: function(*arrays.inputs, *arrays.cotangents))


def checkpoint(task: Task) -> None:
    """Compute the results again in the backward pass; also under jit."""
    _again(task, task.caller.jax.checkpoint_policies.nothing_saveable)


def saved(task: Task) -> None:
    """Have a policy save all results, so that the backward pass need not compute them again; also under jit."""
    _again(task, task.caller.jax.checkpoint_policies.everything_saveable)


def _again(task: Task, policy: Any) -> None:
    jax, wrt = task.caller.jax, tuple(task.options["wrt"])
    count = len(task.calls[0].inputs)
    again = jax.checkpoint(task.function, policy=policy)

    def total(*arrays: Any) -> Any:
        results = again(*arrays[:count])
        return weighted(results, arrays[count:]), results

    function = differentiated(jax, total, wrt, has_aux=True)
    for way, transformed in {"eager": function, "jit": jax.jit(function)}.items():

        def call(arrays: Arrays, transformed: Any = transformed) -> Any:
            found, results = transformed(*arrays.inputs, *arrays.cotangents)
            return [*results, *found]

        task.each(call, way)


def scan(task: Task) -> None:
    """Call in the body of a loop over the first axis of every array, then differentiate the loop."""
    jax, wrt = task.caller.jax, task.options["wrt"]
    count = len(task.calls[0].inputs)

    def body(carry: int, arrays: Any) -> Any:
        return carry, task.function(*arrays)

    def loop(*arrays: Any) -> Any:
        _, results = jax.lax.scan(body, 0, arrays)
        return results

    def total(*arrays: Any) -> Any:
        return weighted(loop(*arrays[:count]), arrays[count:])

    task.each(lambda arrays: loop(*arrays.inputs), "loop")
    if wrt:
        function = differentiated(jax, total, tuple(wrt))
        task.each(lambda arrays: function(*arrays.inputs, *arrays.cotangents), "gradients")


def eval_shape(task: Task) -> None:
    """Ask for shapes and dtypes only, of the results and of the gradients."""
    jax, wrt = task.caller.jax, tuple(task.options["wrt"])
    task.each(lambda arrays: jax.eval_shape(task.function, *arrays.inputs), "results")
    if wrt:
        of = partial(jax.eval_shape, differentiated(jax, loss(task), wrt))
        task.each(lambda arrays: of(*arrays.inputs, *arrays.cotangents), "gradients")


def jacobian(task: Task) -> None:
    """Return the Jacobian of a result, one input after the other."""
    jax, wrt = task.caller.jax, tuple(task.options["wrt"])

    def first(*arrays: Any) -> Any:
        return task.function(*arrays)[task.options["of"]]

    task.run_all({"jacrev": jax.jacrev(first, wrt)}, *task.calls[0].inputs)


def forward_mode(task: Task) -> None:
    """Ask for forward-mode derivatives, in every spelling."""
    jax, wrt = task.caller.jax, tuple(task.options["wrt"])
    (arrays,) = task.calls
    floats = tuple(arrays.inputs[i] for i in wrt)

    def of(*floats: Any) -> Any:
        given = dict(zip(wrt, floats))  # integers have no tangents, so they stay as they are
        return task.function(*[given.get(i, x) for i, x in enumerate(arrays.inputs)])

    def tangents(*floats: Any) -> Any:
        return tuple(np.ones(x.shape, x.dtype) for x in floats)

    def jvp(*floats: Any) -> Any:
        return jax.jvp(of, floats, tangents(*floats))

    def of_jit(*floats: Any) -> Any:
        return jax.jvp(jax.jit(of), floats, tangents(*floats))

    def linearize(*floats: Any) -> Any:
        return jax.linearize(of, *floats)[1](*tangents(*floats))

    def mapped(*floats: Any) -> Any:
        return jax.vmap(jvp)(*map(twice, floats))

    spellings: Request = {
        "jvp": jvp,
        "jvp(jit)": of_jit,
        "jit(jvp)": jax.jit(jvp),
        "linearize": linearize,
        "vmap(jvp)": mapped,
    }
    # JAX mixes 8-bit floats with no other dtype, and a jacobian mixes those of all its arguments, which are real.
    if mixed := tuple(
        i for i, x in enumerate(floats) if x.dtype.itemsize > 1 and x.dtype.kind != "c"
    ):
        spellings["jacfwd"] = jax.jacfwd(of, mixed)
    task.run_all(spellings, *floats)


def wide(task: Task) -> None:
    """Call and differentiate with 64-bit types on, then call with arrays of them."""
    jax = task.caller.jax
    function = gradients(task)
    # Older versions have it here only, newer ones there only.
    owner = jax if hasattr(jax, "enable_x64") else importlib.import_module("jax.experimental")
    with owner.enable_x64(True):
        for way, of in {"eager": function, "compiled": jax.jit(function)}.items():
            task.each(lambda arrays, of=of: of(*arrays.inputs, *arrays.cotangents), way)
        task.each(
            lambda arrays: task.function(*[x.astype("float64") for x in arrays.inputs]), "float64"
        )


def errors(task: Task) -> None:
    """Make a wrong call under every transformation."""
    jax = task.caller.jax
    (arrays,) = task.calls
    function = task.function

    def jitted() -> Any:
        return jax.jit(function)(*arrays.inputs)

    def vmap() -> Any:
        return jax.vmap(function)(*map(twice, arrays.inputs))

    def export() -> Any:
        jax.export.export(jax.jit(function))(*arrays.inputs)
        return ()

    def gradient() -> Any:
        return jax.vjp(function, *arrays.inputs)[0]

    def shapes() -> Any:
        return jax.eval_shape(function, *arrays.inputs)

    ways = {"jit": jitted, "vmap": vmap, "export": export, "vjp": gradient, "eval_shape": shapes}
    task.run_all(ways)


def twice(array: Any) -> Any:
    """Return two copies of an array along a new axis; JAX would compile a program for each shape."""
    return np.stack([array, array])


WAYS: Request = {
    "per example": per_example,
    "of mapped": of_mapped,
    "checkpoint": checkpoint,
    "saved": saved,
    "scan": scan,
    "eval_shape": eval_shape,
    "jacobian": jacobian,
    "forward mode": forward_mode,
    "x64": wide,
    "errors": errors,
}
