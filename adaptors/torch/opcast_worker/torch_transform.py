"""PyTorch's ways to transform an op: compile, export, map, differentiate."""

from __future__ import annotations

import importlib
import io
import warnings
from collections.abc import Callable
from typing import Any

from opcast_worker import torch_compose, torch_derivatives, torch_inspect, torch_rank
from opcast_worker.bound import Answer, Request, Unsupported
from opcast_worker.torch_aliasing import ADVICE
from opcast_worker.torch_weights import pairs, replaced, smooth, weighted
from opcast_worker.transform import Arrays, Task
from opcast_worker.transform import answer as transformed


def gradients(task: Task, function: Callable[..., Any], arrays: Arrays) -> list[Any]:
    """Return the results of a call and the gradients of the wanted inputs."""
    torch = task.caller.torch
    wanted = [arrays.inputs[i].requires_grad_() for i in task.options.get("wrt", [])]
    results = function(*arrays.inputs)
    if not wanted:
        return [*results]
    if task.options.get("sum"):  # autograd makes the cotangent: a one, expanded
        first = next(r for r in results if smooth(r))
        found = torch.autograd.grad(first.sum().real, wanted)
    else:
        found = torch.autograd.grad(*weighted(results, arrays.cotangents, wanted))
    return [*results, *found]


def compiled(task: Task) -> None:
    """Compile without a graph break; facts: how many compilations each call cost."""
    torch = task.caller.torch
    overwrites = any(a.mutated for a in task.caller.info(task.op).inputs)
    complexes = any(x.is_complex() for x in task.calls[0].inputs)
    if task.options["backend"] == "inductor" and overwrites and complexes:
        raise Unsupported("PyTorch's Inductor fails for all ops that overwrite complex tensors")
    torch.compiler.reset()  # every dtype and rank compiles anew, and only so many may
    counter: Any = importlib.import_module("torch._dynamo.testing").CompileCounterWithBackend(
        task.options["backend"]
    )
    function = torch.compile(
        task.function, fullgraph=True, dynamic=task.options["dynamic"], backend=counter
    )
    costs: list[int] = []
    for arrays in task.calls:
        before = counter.frame_count
        task.run(lambda arrays=arrays: gradients(task, function, arrays))
        costs.append(counter.frame_count - before)
    task.facts["costs"] = costs


def export(task: Task) -> None:
    """Export with variable sizes, save and load; facts: the ops in the loaded graph."""
    torch = task.caller.torch

    class Module(torch.nn.Module):
        def forward(self, arrays: list[Any]) -> Any:
            return task.function(*arrays)

    sizes: dict[str, Any] = {}
    for axes in task.options["axes"]:
        for name in axes.values():
            low, high = task.options["ranges"].get(name, [2, None])
            sizes.setdefault(name, torch.export.Dim(name, min=low, max=high))
    shapes = [{int(a): sizes[name] for a, name in axes.items()} for axes in task.options["axes"]]
    program = torch.export.export(
        Module(), ([*task.calls[0].inputs],), dynamic_shapes={"arrays": shapes}
    )
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    loaded = torch.export.load(file)
    task.facts["graph"] = [str(n.target) for n in loaded.graph.nodes if n.op == "call_function"]
    module = loaded.module()
    task.each(lambda arrays: module([*arrays.inputs]))


def vmap(task: Task) -> None:
    """Map over the axes of the options, the outermost level first."""
    function = task.function
    for level in reversed(task.options["levels"]):
        function = task.caller.torch.vmap(function, tuple(level))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a fallback is slow and says so
        warnings.filterwarnings("ignore", ".* is deprecated: ", DeprecationWarning)
        task.each(lambda arrays: function(*arrays.inputs))


def grad(task: Task) -> None:
    """Differentiate with autograd."""
    task.each(lambda arrays: gradients(task, task.function, arrays))


def vjp(task: Task) -> None:
    """Differentiate with torch.func."""
    torch, wrt = task.caller.torch, task.options["wrt"]

    def call(arrays: Arrays) -> Any:
        def of(*chosen: Any) -> Any:
            results = task.function(*replaced(arrays.inputs, wrt, chosen))
            return [r for r, _ in pairs(results, arrays.cotangents)], results

        chosen = [arrays.inputs[i] for i in wrt]
        _, pull, results = torch.func.vjp(of, *chosen, has_aux=True)
        return [*results, *pull([c for _, c in pairs(results, arrays.cotangents)])]

    task.each(call)


def second(task: Task) -> None:
    """Differentiate with a graph of the gradients, then differentiate these, also by the cotangents."""
    task.facts["advice"] = ADVICE
    torch = task.caller.torch
    arrays = task.calls[0]
    wanted = [arrays.inputs[i].requires_grad_() for i in task.options["wrt"]]

    def first() -> Any:
        results = task.function(*arrays.inputs)
        return torch.autograd.grad(*weighted(results, arrays.cotangents, wanted), create_graph=True)

    floating = [c for c in arrays.cotangents if smooth(c)]
    every = [*wanted, *[c.requires_grad_() for c in floating]]
    found = task.run(first, "first")
    task.run(lambda: torch.autograd.grad(sum(g.real.float().sum() for g in found), every), "second")


WAYS: Request = {
    "jit": compiled,
    "export": export,
    "vmap": vmap,
    "grad": grad,
    "vjp": vjp,
    "second": second,
    **torch_compose.WAYS,
    **torch_derivatives.WAYS,
    **torch_inspect.WAYS,
    **torch_rank.WAYS,
}


def same(result: Any) -> Any:
    """Return a result: PyTorch on the CPU has nothing to wait for."""
    return result


def answer(caller: Any, request: Request, blobs: list[bytes]) -> Answer:
    """Do what a request asks for, in two processes if the way needs them."""
    if request["way"] not in torch_rank.WAYS:
        return transformed(caller, WAYS, same, request, blobs)
    if not hasattr(caller, "ranks"):
        caller.ranks = torch_rank.Ranks(caller, answer)
    caller.ranks.begin(request, blobs)
    body, arrays = transformed(caller, WAYS, same, request, blobs)
    return {**body, "peer": caller.ranks.end()}, arrays
