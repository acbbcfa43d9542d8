"""The derivatives of derivatives, and tangents, that PyTorch's ways to transform an op ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opcast_worker.bound import Request
from opcast_worker.torch_weights import pairs, replaced, smooth, weighted
from opcast_worker.transform import Task


class Gradients:
    """The gradients as a function of the wanted inputs and the cotangents."""

    def __init__(self, task: Task) -> None:
        """Find the values of these."""
        self.task, self.arrays = task, task.calls[0]
        self.torch: Any = task.caller.torch
        self.wrt: list[int] = task.options["wrt"]
        cotangents = self.arrays.cotangents
        self.smooth = [i for i, c in enumerate(cotangents) if smooth(c)]
        self.values = [self.arrays.inputs[i] for i in self.wrt]
        self.values += [cotangents[i] for i in self.smooth]

    def of(self, *chosen: Any) -> Any:
        """Call the op with other values of the wanted inputs."""
        return self.task.function(*replaced(self.arrays.inputs, self.wrt, chosen))

    def graph(self, chosen: Any) -> Any:
        """Return the gradients of tensors that are tracked, with a graph of their own."""
        count = len(self.wrt)
        full = replaced(self.arrays.cotangents, self.smooth, chosen[count:])
        results = self.of(*chosen[:count])
        every = weighted(results, full, list(chosen[:count]))
        return self.torch.autograd.grad(*every, create_graph=True)

    def functional(self, *chosen: Any) -> Any:
        """Return the gradients by torch.func."""
        count = len(self.wrt)
        full = replaced(self.arrays.cotangents, self.smooth, chosen[count:])

        def of(*inputs: Any) -> Any:
            return tuple(r for r, _ in pairs(self.of(*inputs), full))

        _, pull = self.torch.func.vjp(of, *chosen[:count])
        return pull(tuple(full[i] for i in self.smooth))

    def leaves(self) -> list[Any]:
        """Return tracked copies of the values."""
        return [x.detach().clone().requires_grad_() for x in self.values]


def again(task: Task) -> None:
    """Differentiate the gradients, weighted, by inputs and cotangents; in every spelling."""
    g, weights = Gradients(task), list(task.calls[1].inputs)
    torch = g.torch

    def graph() -> Any:
        leaves = g.leaves()
        found = g.graph(leaves)
        more = torch.autograd.grad(
            found, leaves, weights, allow_unused=True, materialize_grads=True
        )
        return [*found, *more]

    def functional() -> Any:
        found, pull = torch.func.vjp(g.functional, *g.values)
        return [*found, *pull(tuple(weights))]

    task.run_all({"create_graph": graph, "vjp(vjp)": functional})


def tangents(task: Task) -> None:
    """Return results and tangents, of the op or of its gradients; in every spelling."""
    g, moving = Gradients(task), tuple(task.calls[1].inputs)
    torch: Any = g.torch
    forward_ad = torch.autograd.forward_ad
    of_gradients = task.options.get("gradients")
    of: Callable[..., Any] = g.functional if of_gradients else g.of
    values = g.values if of_gradients else g.values[: len(g.wrt)]

    def flat(results: Any, moved: Any) -> list[Any]:
        moving = [(r, t) for r, t in zip(results, moved) if smooth(r)]
        return [*results, *[torch.zeros_like(r) if t is None else t for r, t in moving]]

    def jvp() -> Any:
        return flat(*torch.func.jvp(of, tuple(values), moving))

    def dual(tracked: bool) -> Any:
        leaves = g.leaves()[: len(values)] if tracked else values
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, t) for x, t in zip(leaves, moving)]
            results = g.graph(duals) if of_gradients else g.of(*duals)
            pairs = [forward_ad.unpack_dual(x) for x in results]
            return flat(*zip(*[(p.primal.detach(), p.tangent) for p in pairs]))

    def mapped() -> Any:
        def inner(*both: Any) -> Any:
            return torch.func.jvp(of, both[: len(values)], both[len(values) :])

        stacked = [torch.stack([x, x]) for x in (*values, *moving)]
        results, moved = torch.vmap(inner)(*stacked)
        return flat([x[1] for x in results], [x[1] for x in moved])

    spellings: dict[str, Any] = {
        "func.jvp": jvp,
        "make_dual of tracked tensors": lambda: dual(tracked=True),
        "vmap(jvp)": mapped,
    }
    if not of_gradients:
        spellings["make_dual"] = lambda: dual(tracked=False)
    task.run_all(spellings)


WAYS: Request = {"gradients of gradients": again, "tangents": tangents}
