"""PyTorch's ways to look at an op: fake tensors, dispatch modes, opcheck, the profiler, autocast, errors."""

from __future__ import annotations

import importlib
import itertools
import logging
import types
from dataclasses import replace
from typing import Any

from opcast_worker.bound import Request
from opcast_worker.torch_weights import weighted
from opcast_worker.transform import Arrays, Task


def fake(task: Task) -> None:
    """Call with real tensors, then with fake ones, then with those of the meta device."""
    mode = task.caller.fake()
    task.each(lambda arrays: task.function(*arrays.inputs), "real")

    def faked(arrays: Arrays) -> Any:
        with mode:
            return task.function(*[mode.from_tensor(x) for x in arrays.inputs])

    task.each(faked, "fake")
    task.each(lambda arrays: task.function(*[x.to("meta") for x in arrays.inputs]), "meta")


def recorded(task: Task, arrays: Arrays, wrt: list[int]) -> list[tuple[Any, Any, Any]]:
    """Return the registered ops that a call runs, with their arguments."""
    torch = task.caller.torch
    seen: list[tuple[Any, Any, Any]] = []

    class Mode(importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append((function, args, kwargs or {}))
            return function(*args, **(kwargs or {}))

    inputs = [x.detach() for x in arrays.inputs]
    wanted = [inputs[i].requires_grad_() for i in wrt]
    with Mode():
        results = task.function(*inputs)
        if wanted:
            torch.autograd.grad(*weighted(results, arrays.cotangents, wanted))
    return seen


def modes(task: Task) -> None:
    """Facts: the names of the ops that a dispatch mode sees, without and with a gradient."""
    wanted: dict[str, list[int]] = {"forward": [], "gradient": task.options["wrt"]}
    for name, wrt in wanted.items():
        seen = recorded(task, task.calls[0], wrt)
        task.facts[name] = [str(function) for function, _, _ in seen]
    try:  # one that has no effect on what compilers see
        debug: Any = importlib.import_module("torch.utils._debug_mode")
    except ImportError:
        task.facts["debug"] = None
    else:
        with debug.DebugMode() as mode:
            task.function(*[x.detach() for x in task.calls[0].inputs])
        task.facts["debug"] = mode.debug_string()
    task.run(lambda: ())


def flops(task: Task) -> None:
    """Call and differentiate under a flop counter; facts: what it counted, by the ops' names in the registry."""
    torch, wrt = task.caller.torch, task.options["wrt"]
    counter: Any = importlib.import_module("torch.utils.flop_counter")

    def call(arrays: Arrays) -> Any:
        wanted = [arrays.inputs[i].requires_grad_() for i in wrt]
        with counter.FlopCounterMode(display=False) as mode:
            results = task.function(*arrays.inputs)
            found: Any = ()
            if wanted:
                found = torch.autograd.grad(*weighted(results, arrays.cotangents, wanted))
        task.facts["flops"] = {str(op): n for op, n in mode.get_flop_counts()["Global"].items()}
        return [*results, *found]

    task.each(call)


# What the tests say of their own arithmetic: they compute with the arguments, which torch cannot for 8-bit floats,
# and add sums of all results to that of the first one, which may be an integer.
_NOT_OF_THE_OP = (
    "not implemented for 'Float8",
    "result type Float can't be cast to the desired output type Long",
)


def opcheck(task: Task) -> None:
    """Facts: what PyTorch's own tests of custom ops say, per registered op that the call runs."""
    torch, wrt, info = task.caller.torch, task.options["wrt"], task.caller.info(task.op)
    found: dict[str, dict[str, str]] = {}
    for arrays in task.calls:
        runs = recorded(task, arrays, []) + (recorded(task, arrays, wrt) if wrt else [])
        for function, args, kwargs in runs:
            name = function.__name__.split(".")[0]
            if name not in task.watched:
                continue
            names = found.setdefault(str(function), {})
            wanted = bool(wrt) and name == task.op  # a gradient has no gradient of its own
            smooth = [wanted and a.name not in info.no_grad for a in info.inputs]
            rest = [False] * (len(args) - len(smooth))
            values = [differentiable(torch, x, y) for x, y in zip(args, smooth + rest)]
            result = torch.library.opcheck(function, tuple(values), kwargs, raise_exception=False)
            for test, outcome in result.items():
                excused = any(text in str(outcome) for text in _NOT_OF_THE_OP)
                if names.get(test, "SUCCESS") == "SUCCESS":
                    names[test] = "SUCCESS" if excused else str(outcome)
    task.facts["opcheck"] = found
    task.run(lambda: ())


def differentiable(torch: Any, value: Any, wanted: bool) -> Any:
    """Return a copy of a tensor that wants a gradient if it can have one."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach()
    return value.requires_grad_(wanted and value.is_floating_point())


def profile(task: Task) -> None:
    """Facts: names and input shapes of the events of a profile, forward and backward."""
    torch = task.caller.torch
    arrays = task.calls[0]
    wanted = [arrays.inputs[i].requires_grad_() for i in task.options["wrt"]]

    def call() -> Any:
        results = task.function(*arrays.inputs)
        return [
            *results,
            *(torch.autograd.grad(*weighted(results, arrays.cotangents, wanted)) if wanted else ()),
        ]

    cpu = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=cpu, record_shapes=True) as run:
        task.run(call)
    task.facts["events"] = [[e.name, e.input_shapes] for e in run.events() if "::" in e.name]


def autocast(task: Task) -> None:
    """Call, and differentiate, under autocast."""
    torch = task.caller.torch

    def call(arrays: Arrays) -> Any:
        wanted = [arrays.inputs[i].requires_grad_() for i in task.options["wrt"]]
        with torch.autocast(
            "cpu" if task.caller.config["device"] == "cpu" else "cuda",
            dtype=task.caller.dtype(task.options["dtype"]),
        ):
            results = task.function(*arrays.inputs)
        found = torch.autograd.grad(*weighted(results, arrays.cotangents, wanted)) if wanted else ()
        return [*results, *found]

    class Mode(importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return function(*args, **(kwargs or {}))

    fresh = [replace(a, inputs=[x.clone() for x in a.inputs]) for a in task.calls]
    task.each(call, "plain")
    task.calls = fresh  # some may have been overwritten
    with Mode():  # which sees the op before autocast does
        task.each(call, "under a dispatch mode")


COUNT = itertools.count()


def fresh(function: Any) -> Any:
    """Return a copy that torch.compile has never seen.

    It gives up a function in which it met an error, and from then on compiles what that one calls, piece by piece. A
    copy is traced again; torch.compiler.reset() would also have it give up the pieces one by one, each time.
    """
    code = function.__code__.replace(co_name=f"{function.__name__}_{next(COUNT)}")
    return types.FunctionType(
        code, function.__globals__, code.co_name, function.__defaults__, function.__closure__
    )


def errors(task: Task) -> None:
    """Make a wrong call under every transformation."""
    logging.getLogger("torch").setLevel(logging.CRITICAL)  # it prints a page for each
    torch = task.caller.torch
    (arrays,) = task.calls
    function = task.function

    if getattr(task.caller, "refusing", "") != task.op:
        torch.compiler.reset()
        task.caller.refusing = task.op

    def compiled(whole: bool) -> Any:
        traced = fresh(function)
        return torch.compile(traced, fullgraph=whole, backend="aot_eager")(*arrays.inputs)

    class Module(torch.nn.Module):
        def forward(self, *inputs: Any) -> Any:
            return function(*inputs)

    def export() -> Any:
        torch.export.export(Module(), tuple(arrays.inputs))
        return ()

    def vmap() -> Any:
        return torch.vmap(function)(*[torch.stack([x, x]) for x in arrays.inputs])

    def gradient() -> Any:
        return function(*[differentiable(torch, x, True) for x in arrays.inputs])

    ways: dict[str, Any] = {
        "compile": lambda: compiled(False),
        "compile(fullgraph)": lambda: compiled(True),
        "export": export,
        "vmap": vmap,
        "requires_grad": gradient,
    }
    task.run_all(ways)


WAYS: Request = {
    "fake": fake,
    "modes": modes,
    "flops": flops,
    "opcheck": opcheck,
    "profile": profile,
    "autocast": autocast,
    "errors": errors,
}
