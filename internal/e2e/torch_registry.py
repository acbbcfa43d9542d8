"""Claims about the registered ops of PyTorch: nobody who gets hold of one loses derivatives, counts or errors."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import warnings
from typing import Any

import numpy as np
import opcast_torch
import torch
from torch import Tensor

warnings.simplefilter("ignore")  # torch.jit.script is deprecated
torch_: Any = torch
ours: Any = opcast_torch
registered: Any = torch_.ops.opcast
X, WEIGHT = torch.randn(4, 8), torch.randn(8)


def gradient(function: Any) -> Tensor:
    """Return the gradient of a sum of sines with respect to the first argument."""
    x = X.clone().requires_grad_()
    function(x, WEIGHT).sin().sum().backward()
    assert x.grad is not None
    return x.grad


def _plain(x: Tensor, weight: Tensor) -> Tensor:
    return ours.rms_norm(x, weight)


def targets(graph: Any) -> list[str]:
    """Return the names of what a graph calls."""
    return [str(node.target) for node in graph.nodes if node.op == "call_function"]


def traced_before_dispatch() -> None:
    """Record a graph above autograd: it has derivatives."""
    make_fx = importlib.import_module("torch.fx.experimental.proxy_tensor").make_fx
    graph = make_fx(_plain, pre_dispatch=True)(X, WEIGHT)
    assert targets(graph.graph) == ["opcast.rms_norm.default"], targets(graph.graph)
    want = gradient(ours.rms_norm)
    assert torch.equal(gradient(graph), want)
    assert torch.equal(gradient(torch_.compile(graph, backend="aot_eager")), want)


def traced_by_fx() -> None:
    """Record a graph of stand-ins: it has them, too."""
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            graph = torch_.fx.symbolic_trace(_plain)
        assert targets(graph.graph) == ["opcast.rms_norm.default"], targets(graph.graph)


class Duck:
    """No tensor, but it answers PyTorch's calls with the tensor inside."""

    requires_grad = False

    def __init__(self, inside: Tensor) -> None:
        self.inside = inside

    @classmethod
    def __torch_function__(cls, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call with what is inside."""
        inner = [x.inside if isinstance(x, Duck) else x for x in args]
        return function(*inner, **(kwargs or {}))


def unwrapped() -> None:
    """Follow derivatives into what stands for a tensor."""

    def call(x: Tensor, weight: Tensor) -> Tensor:
        return ours.rms_norm(Duck(x), weight)

    assert torch.equal(gradient(call), gradient(ours.rms_norm))


def run_once() -> None:
    """Overwrite arguments once, though a handler of the user's fails."""
    seen: list[str] = []

    class Failing(Duck):
        @classmethod
        def __torch_function__(
            cls, function: Any, _: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(function))
            raise KeyError("theirs")

    try:
        ours.fused_add_rms_norm(Failing(X), X.clone(), WEIGHT)
    except KeyError:
        pass
    assert len(seen) == 1, seen


def scripted() -> None:
    """Let TorchScript call the op."""

    def call(x: Tensor, weight: Tensor) -> Tensor:
        return torch.ops.opcast.rms_norm(x, weight, 1e-6)

    assert torch.equal(torch_.jit.script(call)(X, WEIGHT), ours.rms_norm(X, WEIGHT))


def called_by_hand() -> None:
    """Follow derivatives through the overloads that know none."""
    want = gradient(ours.rms_norm)
    for overload in (registered.rms_norm.direct, registered.rms_norm.default, registered.rms_norm):

        def call(x: Tensor, weight: Tensor, overload: Any = overload) -> Tensor:
            return overload(x, weight, 1e-6)

        assert torch.equal(gradient(call), want)

    def compiled(x: Tensor) -> Tensor:
        return registered.rms_norm.compiled(x, WEIGHT, 1e-6).sin().sum()

    assert torch.allclose(torch_.func.grad(compiled)(X), want)
    for call in (registered.rms_norm, registered.rms_norm.default, registered.rms_norm.compiled):
        try:
            call(X, WEIGHT[:3], 1e-6)
        except ValueError as error:
            assert str(error).startswith("rms_norm: weight: expected"), error
        else:
            raise AssertionError(call)


def overwritten_between() -> None:
    """Overwrite what a mode keeps for autograd."""
    x = X.clone().requires_grad_()
    with torch_.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = torch.sin(y)
        with torch.no_grad():
            ours.fused_add_rms_norm(y, torch.zeros(4, 8), WEIGHT)
        (got,) = torch.autograd.grad(z.sum(), x)
    assert torch.allclose(got, torch.cos(x.detach()))


def straight() -> None:
    """Call with the same tensor twice, and with others in between: no call leaves the short way."""
    add: Any = importlib.import_module("opcast_torch._ops.eltwise_add")
    general, one, other = add._op.call, torch.randn(3), torch.randn(3)
    add._op.call = None  # what would raise
    try:
        for _ in range(3):
            for y in (one, other):
                assert torch.equal(ours.eltwise_add(one, y), one + y)
    finally:
        add._op.call = general


def given() -> None:
    """Give an array for the result: it is checked whoever watches, and attributes as without one."""
    modes: Any = importlib.import_module("torch.utils._python_dispatch")

    class Watching(modes.TorchDispatchMode):
        def __torch_dispatch__(
            self, function: Any, _: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return function(*args, **(kwargs or {}))

    def watched(call: Any) -> Any:
        def within(*args: Any, **kwargs: Any) -> Any:
            with Watching():
                return call(*args, **kwargs)

        return within

    negative = torch.complex(X, X).conj().imag
    op = ours.rms_norm
    wrong = [
        torch.empty(3, *X.shape),
        torch.empty_like(X, dtype=torch.float64),
        torch.empty(X.shape[::-1]).t(),
    ]
    for function in op, watched(op), torch_.func.functionalize(op):
        for x in X, negative:
            out = torch.empty_like(X)
            function(x, WEIGHT, out=out)
            assert torch.equal(out, op(x.clone(), WEIGHT))
        for out in wrong:
            refused(function, X, WEIGHT, out=out)
    for function in op, watched(op):
        refused(function, X, WEIGHT, out=X)

    def row(x: Tensor) -> Tensor:
        return op(x, WEIGHT, out=x.new_empty(3, 8))

    refused(torch.vmap(row), X)
    for eps in (True, torch.tensor(1.0), "1", np.ones(2)):
        refused(op, X, WEIGHT, eps=eps, out=torch.empty_like(X))


def refused(call: Any, *args: Any, **kwargs: Any) -> None:
    """Expect an error in the words of the checks."""
    try:
        call(*args, **kwargs)
    except (TypeError, ValueError) as error:
        assert str(error).startswith("rms_norm: "), error
    else:
        raise AssertionError((call, args, kwargs))


def sharded() -> None:
    """Train a model of layers under FSDP2."""
    distributed: Any = importlib.import_module("torch.distributed")
    fsdp: Any = importlib.import_module("torch.distributed.fsdp")
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    mesh = distributed.device_mesh.init_device_mesh("cpu", (1,))
    torch_.manual_seed(0)
    theirs: Any = torch.nn.Sequential(torch.nn.RMSNorm(8, eps=1e-6), torch.nn.Linear(8, 8))
    model = copy.deepcopy(theirs)
    assert len(ours.replace(model).swapped) == 2
    for part in (*model, model):
        fsdp.fully_shard(part, mesh=mesh)
    results = model(X), theirs(X)
    assert torch.allclose(*results, atol=1e-5)
    for result in results:
        result.sum().backward()
    for p, q in zip(model.parameters(), theirs.parameters()):
        assert torch.allclose(p.grad.full_tensor(), q.grad, atol=1e-4)
    distributed.destroy_process_group()


def asked_for() -> None:
    """Look for a module of PyTorch's, and import it later: the ops are counted."""
    importlib.util.find_spec("torch.utils.flop_counter")
    counter = importlib.import_module("torch.utils.flop_counter")
    with counter.FlopCounterMode(display=False) as mode:
        ours.gemm(torch.ones(3, 4), torch.ones(10, 4))
    assert mode.get_total_flops() == 240, mode.get_total_flops()


asked_for()  # before another claim imports the module
for claim in (
    traced_before_dispatch,
    traced_by_fx,
    unwrapped,
    run_once,
    scripted,
    called_by_hand,
    overwritten_between,
    straight,
    given,
    sharded,
):
    claim()
print("ok")
