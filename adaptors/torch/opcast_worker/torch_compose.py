"""PyTorch's ways to transform an op more than once."""

from __future__ import annotations

from functools import partial
from typing import Any

from opcast_worker import torch_weights
from opcast_worker.bound import Request
from opcast_worker.transform import Arrays, Task


def loss(task: Task) -> Any:
    """Return a function whose gradient has the cotangents as those of the results: sum(results * cotangents)."""
    count = len(task.calls[0].inputs)

    def total(*arrays: Any) -> Any:
        return torch_weights.total(task.function(*arrays[:count]), arrays[count:])

    return total


def per_example(task: Task) -> None:
    """Map a gradient: torch.func.vmap(torch.func.grad(...)), compiled if the options say so."""
    torch = task.caller.torch
    function = torch.func.grad(loss(task), tuple(task.options["wrt"]))
    for level in reversed(task.options["levels"]):
        function = torch.vmap(function, tuple(level))
    run(task, function)


def of_mapped(task: Task) -> None:
    """Differentiate a mapped op: torch.func.grad(... torch.func.vmap(...)), compiled if the options say so."""
    torch = task.caller.torch
    mapped = loss(task)
    for level in reversed(task.options["levels"]):
        mapped = torch.vmap(mapped, tuple(level))

    def total(*arrays: Any) -> Any:
        return mapped(*arrays).sum()

    run(task, torch.func.grad(total, tuple(task.options["wrt"])))


def run(task: Task, function: Any) -> None:
    """Call with arrays and cotangents."""
    torch = task.caller.torch
    if task.options.get("compile"):
        torch.compiler.reset()
        function = torch.compile(function, fullgraph=True, backend="aot_eager")
    task.each(lambda arrays: function(*arrays.inputs, *arrays.cotangents))


def checkpoint(task: Task) -> None:
    """Compute the results again in the backward pass, in each of the two ways."""
    torch, wrt = task.caller.torch, task.options["wrt"]
    again = partial(torch.utils.checkpoint.checkpoint, task.function)

    def call(arrays: Arrays, reentrant: bool) -> Any:
        inputs = [x.detach() for x in arrays.inputs]
        wanted = [inputs[i].requires_grad_() for i in wrt]
        results = again(*inputs, use_reentrant=reentrant)
        floats, _, cotangents = torch_weights.weighted(results, arrays.cotangents, wanted)
        torch.autograd.backward(floats, cotangents)
        return [*results, *[x.grad for x in wanted]]

    for reentrant in (False, True):
        way = f"use_reentrant={reentrant}"
        task.each(lambda arrays, reentrant=reentrant: call(arrays, reentrant), way)


def saved(task: Task) -> None:
    """Have a policy save what the op returns, so that the backward pass need not compute it again."""
    torch, wrt = task.caller.torch, task.options["wrt"]
    namespace, policies = task.caller.config["namespace"], torch.utils.checkpoint.CheckpointPolicy

    def policy(_context: Any, op: Any, *_args: Any, **_named: Any) -> Any:
        ours = op.namespace == namespace
        return policies.MUST_SAVE if ours else policies.PREFER_RECOMPUTE

    contexts = partial(torch.utils.checkpoint.create_selective_checkpoint_contexts, policy)

    def call(arrays: Arrays) -> Any:
        inputs = [x.detach() for x in arrays.inputs]
        wanted = [inputs[i].requires_grad_() for i in wrt]
        again = partial(torch.utils.checkpoint.checkpoint, use_reentrant=False)
        results = again(task.function, *inputs, context_fn=contexts)
        floats, _, cotangents = torch_weights.weighted(results, arrays.cotangents, wanted)
        torch.autograd.backward(floats, cotangents)
        return [*results, *[x.grad for x in wanted]]

    task.each(call, "eager")


def jacobian(task: Task) -> None:
    """Return the Jacobian of a result, one input after the other."""
    torch, wrt = task.caller.torch, task.options["wrt"]

    def first(*arrays: Any) -> Any:
        return task.function(*arrays)[task.options["of"]]

    def batched(*arrays: Any) -> Any:
        """Differentiate as jacobian(vectorize=True) does, whose arrays are batched in another way."""
        inputs = [x.detach().requires_grad_(i in wrt) for i, x in enumerate(arrays)]
        result = first(*inputs)
        basis = torch.eye(result.numel(), dtype=result.dtype, device=result.device).reshape(
            -1, *result.shape
        )
        moving = [inputs[i] for i in wrt]
        found = torch.autograd.grad(result, moving, basis, is_grads_batched=True)
        return [g.reshape(*result.shape, *x.shape) for g, x in zip(found, moving)]

    spellings = {"jacrev": torch.func.jacrev(first, tuple(wrt)), "is_grads_batched": batched}
    task.run_all(spellings, *task.calls[0].inputs)


def module(task: Task) -> None:
    """Put inputs into a module as its parameters, and differentiate torch.func.functional_call."""
    torch, wrt = task.caller.torch, task.options["wrt"]

    def call(arrays: Arrays) -> Any:
        inputs = arrays.inputs

        class Layer(torch.nn.Module):
            def forward(self) -> Any:
                mine = dict(self.named_parameters())
                return task.function(*[mine.get(f"p{i}", x) for i, x in enumerate(inputs)])

        layer = Layer()
        for i in wrt:
            layer.register_parameter(f"p{i}", torch.nn.Parameter(torch.zeros_like(inputs[i])))
        given = {f"p{i}": inputs[i] for i in wrt}

        def total(parameters: Any) -> Any:
            results = torch.func.functional_call(layer, parameters, ())
            return torch_weights.total(results, arrays.cotangents)

        found = torch.func.grad(total)(given)
        return [found[f"p{i}"] for i in wrt]

    task.each(call)


def forward_mode(task: Task) -> None:
    """Ask for forward-mode derivatives, in every spelling."""
    torch, wrt = task.caller.torch, task.options["wrt"]
    forward_ad: Any = torch.autograd.forward_ad
    inputs = task.calls[0].inputs
    floats = tuple(inputs[i] for i in wrt)
    tangents = tuple(torch.ones_like(x) for x in floats)

    def of(*floats: Any) -> Any:
        given = dict(zip(wrt, floats))  # integers have no tangents, so they stay as they are
        return task.function(*[given.get(i, x) for i, x in enumerate(inputs)])

    def jvp() -> Any:
        return torch.func.jvp(of, floats, tangents)

    def dual() -> Any:
        with forward_ad.dual_level():
            return of(*[forward_ad.make_dual(x, t) for x, t in zip(floats, tangents)])

    def jacfwd() -> Any:
        return torch.func.jacfwd(of, tuple(range(len(floats))))(*floats)

    def mapped() -> Any:
        def inner(*floats: Any) -> Any:
            return torch.func.jvp(of, floats, floats)

        return torch.vmap(inner)(*[torch.stack([x, x]) for x in floats])

    ways = {"func.jvp": jvp, "make_dual": dual, "func.jacfwd": jacfwd, "vmap(jvp)": mapped}
    if any(x.is_complex() for x in floats):
        del ways["func.jacfwd"]  # which takes real tensors only
    task.run_all(ways)


WAYS: Request = {
    "per example": per_example,
    "of mapped": of_mapped,
    "checkpoint": checkpoint,
    "saved": saved,
    "jacobian": jacobian,
    "module": module,
    "forward mode": forward_mode,
}
