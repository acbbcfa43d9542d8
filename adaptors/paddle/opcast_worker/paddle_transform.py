"""PaddlePaddle's ways to transform an op: it differentiates eager calls, and that is all that the adaptor supports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opcast_worker import transform
from opcast_worker.aliasing import floating
from opcast_worker.bound import Answer, Request
from opcast_worker.transform import Arrays, Task

ADVICE = "call it under paddle.no_grad() or detach the inputs"
"""What to do where no gradient is defined."""


def tracked(x: Any) -> Any:
    """Let a gradient flow to a tensor."""
    x.stop_gradient = False
    return x


def weighted(results: Any, cotangents: Any) -> tuple[list[Any], list[Any]]:
    """Return the results that have a gradient, and their cotangents: integers have none."""
    pairs = [(r, c) for r, c in zip(results, cotangents) if c is not None and floating(r)]
    return [r for r, _ in pairs], [c for _, c in pairs]


def gradients(task: Task, function: Callable[..., Any], arrays: Arrays) -> list[Any]:
    """Return the results of a call and the gradients of the wanted inputs."""
    paddle = task.caller.paddle
    wanted = [tracked(arrays.inputs[i]) for i in task.options.get("wrt", [])]
    results = function(*arrays.inputs)
    if not wanted:
        return [*results]
    if task.options.get("sum"):  # the cotangent is PaddlePaddle's own
        first = next(r for r in results if floating(r))
        return [*results, *paddle.grad(first.sum(), wanted)]
    return [*results, *paddle.grad(*inner(results, arrays.cotangents, wanted))]


def inner(results: Any, cotangents: Any, wanted: list[Any]) -> tuple[list[Any], ...]:
    """Return the arguments of paddle.grad: results, what to differentiate by, cotangents."""
    chosen, weights = weighted(results, cotangents)
    return chosen, wanted, weights


def grad(task: Task) -> None:
    """Differentiate."""
    task.each(lambda arrays: gradients(task, task.function, arrays))


def second(task: Task) -> None:
    """Differentiate with a graph of the gradients, then differentiate these, also by the cotangents."""
    task.facts["advice"] = ADVICE
    paddle = task.caller.paddle
    arrays = task.calls[0]
    wanted = [tracked(arrays.inputs[i]) for i in task.options["wrt"]]

    def first() -> Any:
        results = task.function(*arrays.inputs)
        chosen, weights = weighted(results, arrays.cotangents)
        return paddle.grad(chosen, wanted, weights, create_graph=True)

    every = [*wanted, *[tracked(c) for c in arrays.cotangents if floating(c)]]
    found = task.run(first, "first")
    task.run(
        lambda: paddle.grad(
            sum(g.astype("float32").sum() for g in found), every, allow_unused=True
        ),
        "second",
    )


def again(task: Task) -> None:
    """Differentiate the gradients, weighted, by inputs and cotangents."""
    paddle, arrays = task.caller.paddle, task.calls[0]
    wanted = [tracked(arrays.inputs[i]) for i in task.options["wrt"]]
    smooth = [tracked(c) for c in arrays.cotangents if floating(c)]

    def graph() -> Any:
        chosen, weights = weighted(task.function(*arrays.inputs), arrays.cotangents)
        found = paddle.grad(chosen, wanted, weights, create_graph=True)
        leaves = [*wanted, *smooth]
        more = paddle.grad(found, leaves, [*task.calls[1].inputs], allow_unused=True)
        return [*found, *(paddle.zeros_like(x) if g is None else g for x, g in zip(leaves, more))]

    task.run(graph, "create_graph")


def jacobian(task: Task) -> None:
    """Return the Jacobian of a result, one input after the other and row by row."""
    paddle, wrt = task.caller.paddle, task.options["wrt"]

    def rows(arrays: Arrays) -> Any:
        wanted = [tracked(arrays.inputs[i]) for i in wrt]
        result = task.function(*arrays.inputs)[task.options["of"]]
        basis = paddle.eye(result.size).astype(result.dtype).reshape([-1, *result.shape])
        found = [paddle.grad(result, wanted, row, retain_graph=True) for row in basis]
        stacked = [paddle.stack(list(column)) for column in zip(*found)]
        return [s.reshape([*result.shape, *x.shape]) for s, x in zip(stacked, wanted)]

    task.each(rows, "paddle.grad")


def checkpoint(task: Task) -> None:
    """Compute the results again in the backward pass."""
    paddle, wrt = task.caller.paddle, task.options["wrt"]
    recompute = paddle.distributed.fleet.utils.recompute

    def call(arrays: Arrays, reentrant: bool) -> Any:
        inputs = [x.detach() for x in arrays.inputs]
        wanted = [tracked(inputs[i]) for i in wrt]
        results = recompute(task.function, *inputs, use_reentrant=reentrant)
        chosen, weights = weighted(results, arrays.cotangents)
        paddle.autograd.backward(chosen, weights)
        return [*results, *[x.grad for x in wanted]]

    for reentrant in (False, True):
        way = f"use_reentrant={reentrant}"
        task.each(lambda arrays, reentrant=reentrant: call(arrays, reentrant), way)


def errors(task: Task) -> None:
    """Make a wrong call of which gradients are wanted."""
    (arrays,) = task.calls
    inputs = [tracked(x) if floating(x) else x for x in arrays.inputs]
    task.run(lambda: task.function(*inputs), "stop_gradient=False")


WAYS: Request = {
    "grad": grad,
    "second": second,
    "gradients of gradients": again,
    "jacobian": jacobian,
    "checkpoint": checkpoint,
    "errors": errors,
}

MISSING = {
    "jit": "paddle.jit.to_static does not trace the ops, which are called eagerly",
    "export": "the ops are no part of PaddlePaddle's programs",
    "vmap": "PaddlePaddle has no vmap",
    "of mapped": "PaddlePaddle has no vmap",
    "per example": "PaddlePaddle has no vmap",
    "fake": "PaddlePaddle has no tensors without data",
    "forward mode": "PaddlePaddle has no forward mode for eager calls",
    "tangents": "PaddlePaddle has no forward mode for eager calls",
    "saved": "PaddlePaddle has no policies for what is computed again",
}
"""Why there is no other way."""


def finished(result: Any) -> Any:
    """Return a result: whoever reads it waits for the device."""
    return result


def answer(caller: Any, request: Request, blobs: list[bytes]) -> Answer:
    """Do what a request asks for, where PaddlePaddle can."""
    if request["way"] in MISSING:
        return {"unsupported": MISSING[request["way"]]}, []
    return transform.answer(caller, WAYS, finished, request, blobs)
