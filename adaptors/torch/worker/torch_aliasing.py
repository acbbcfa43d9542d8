"""Special calls in which PyTorch has to notice, or to refuse, that memory is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from bound import Bound, Report, Unsupported, expecting, refusal

if TYPE_CHECKING:
    from caller import Caller

ADVICE = "call it under torch.no_grad() or detach the inputs"
"""What to do where no gradient is defined."""


class Aliasing:
    """Probes of versions and of autograd's view of memory.

    Every note must be true. Those marked as refused must raise an error of ours.

    Parameters
    ----------
    caller
        The caller for PyTorch.

    """

    def __init__(self, caller: Caller) -> None:
        """Keep the framework."""
        self.torch: Any = vars(caller)["torch"]

    @expecting(out=True)
    def probe_version_out(self, call: Bound) -> Any:
        """Write to given tensors; autograd must learn that they changed."""
        made = functional(call)()
        before = versions(tensors(made))
        result = to(call, made)()
        return Report(result, {"bumped": versions_changed(before, tensors(made))})

    def probe_version_mutated(self, call: Bound) -> Any:
        """Overwrite arguments; their versions change, those of the others stay."""
        targets = overwritten(call)
        rest = [x for x in call.arrays() if not any(x is t for t in targets)]
        before, others = versions(targets), versions(rest)
        result = call()
        notes = {
            "bumped": versions_changed(before, targets),
            "others stay": others == versions(rest),
        }
        return Report(result, notes)

    def probe_version_negated(self, call: Bound) -> Any:
        """Overwrite tensors in a call that is not plain, since others are negated lazily."""
        every, args = overwritten(call), [*call.args]
        wide = [i for i, x in enumerate(args) if floating(x) and x.itemsize > 1]
        places = [i for i in wide if i not in call.mutated]
        if not places:
            raise Unsupported("the op overwrites all that it gets, or torch cannot negate it")
        for i in places:
            args[i] = self.torch._neg_view(-args[i])
        before = versions(every)
        results = replace(call, args=args)()
        return Report(results, {"bumped": versions_changed(before, every)})

    def probe_version_dispatched(self, call: Bound) -> Any:
        """Overwrite arguments while a mode for functions is on, so that PyTorch itself passes the call on."""
        targets = overwritten(call)
        before = versions(targets)
        with self.torch.overrides.BaseTorchFunctionMode():
            result = call()
        return Report(result, {"bumped": versions_changed(before, targets)})

    @expecting(out=True)
    def probe_stale_out(self, call: Bound) -> Any:
        """Write to a tensor that autograd saved: a backward pass must refuse its new contents."""
        made = functional(call)()
        return self.stale(tensors(made), to(call, made))

    def probe_stale_mutated(self, call: Bound) -> Any:
        """Overwrite a tensor that autograd saved: a backward pass must refuse its new contents."""
        return self.stale(overwritten(call), call)

    def stale(self, targets: list[Any], call: Bound) -> Report:
        """Let autograd save tensors, call, and go backward."""
        products: list[Any] = []
        for target in targets:
            if floating(target) and target.element_size() > 1 and target.numel():  # no f8
                products.append((target * self.torch.ones_like(target, requires_grad=True)).sum())
        if not products:
            raise Unsupported("nothing that autograd saves is written")
        with self.torch.no_grad():
            result = call()
        return Report(result, {"refused": all(refused(p) for p in products)})

    def probe_stale_saved(self, call: Bound) -> Any:
        """Change what the op itself saved for its gradient: the backward pass must refuse it."""
        if not call.options["keeps"]:
            raise Unsupported("the gradient needs no input and no output")
        tracked = call.map(lambda x: x.clone().requires_grad_() if floating(x) else x)
        results = tracked()
        total = sum(x.sum() for x in tensors(results) if floating(x))
        with self.torch.no_grad():
            for x in [*tracked.arrays(), *tensors(results)]:
                x.mul_(1)
        return Report(results, {"refused": refused(total)})

    @expecting(refused=True, out=True)
    def probe_gradient_refused_out(self, call: Bound) -> Any:
        """Write to tensors that a gradient flows to."""
        made = functional(call)()
        if not sum(x.requires_grad_().numel() for x in tensors(made) if floating(x)):
            raise Unsupported("no gradient flows to the outputs")
        words = "expected no gradient to flow, got requires_grad"
        return refusal(to(call, made), words)

    def probe_gradient_one(self, call: Bound) -> Any:
        """Let a gradient flow to one tensor after the other: the shortcut for others may not lose it."""
        places = [i for i, x in enumerate(call.args) if floating(x) and i not in call.mutated]
        if not places:
            raise Unsupported("no input that a gradient flows to")
        for i in places:
            warm(call)
            fresh = call.map(lambda x: x.clone())
            fresh.args[i].requires_grad_()
            try:
                made = [x for x in tensors(fresh()) if floating(x)]
            except NotImplementedError:  # there is none
                continue
            if made and not any(x.requires_grad for x in made):
                raise AssertionError(f"lost the gradient of argument {i}")
        return call()

    @expecting(refused=True, out=True)
    def probe_gradient_refused_given(self, call: Bound) -> Any:
        """Write to plain tensors while a gradient flows to an input."""
        made = functional(call)()
        tracked = call.map(lambda x: x.clone().requires_grad_(floating(x)))
        if not any(x.requires_grad for x in tracked.arrays()):
            raise Unsupported("no gradient flows to the inputs")
        return refusal(to(tracked, made), "no gradient is defined where out is given: " + ADVICE)

    @expecting(refused=True)
    def probe_gradient_refused_mutated(self, call: Bound) -> Any:
        """Overwrite tensors that a gradient flows to."""
        require_gradients(call)
        return refusal(call, ADVICE)

    def probe_gradient_off(self, call: Bound) -> Any:
        """Overwrite tensors that a gradient flows to while gradients are off, as optimisers do."""
        require_gradients(call)
        with self.torch.no_grad():
            return call()

    def probe_gradient_inference(self, call: Bound) -> Any:
        """Overwrite tensors of inference mode, which have no versions."""
        overwritten(call)
        with self.torch.inference_mode():
            return call.map(lambda x: x.clone())()

    def probe_written_meta(self, call: Bound) -> Any:
        """Overwrite tensors without memory whose elements share places: no kernel is there to refuse them."""
        places = [i for i in call.mutated if call.args[i].dim() > 1 and call.args[i].shape[0] > 1]
        if not places:
            raise Unsupported("nothing is overwritten that may share places")
        notes: dict[str, Any] = {}
        without = call.map(lambda x: x.to("meta"))
        for i in places:
            x = without.args[i]
            shared = x.new_empty((1, *x.shape[1:])).expand(x.shape)
            args = [shared if i == j else a for j, a in enumerate(without.args)]
            try:
                replace(without, args=args)()
                notes[f"refused {i}"] = False
            except ValueError as error:
                texts = ("expected memory without overlap", "expected contiguous memory")
                notes[f"refused {i}"] = any(text in str(error) for text in texts)
        return Report(call(), notes)

    def probe_written_autocast(self, call: Bound) -> Any:
        """Overwrite a narrow tensor under autocast: a wide copy of it would be overwritten in its place."""
        places = [
            i
            for i in call.mutated
            if i in call.options["partners"] and call.args[i].dtype is self.torch.float32
        ]
        if not places:
            raise Unsupported("nothing is overwritten that another input could be wider than")
        notes: dict[str, Any] = {}
        for i in places:
            args = [a.bfloat16() if i == j else a for j, a in enumerate(call.args)]
            try:
                with self.torch.autocast("cpu", dtype=self.torch.bfloat16):
                    replace(call, args=args)()
                notes[f"refused {i}"] = False
            except TypeError as error:
                notes[f"refused {i}"] = str(error).startswith(call.op + ": ")
        return Report(call(), notes)


def functional(call: Bound) -> Bound:
    """Return a call that has out=."""
    if call.mutated:
        raise Unsupported("an op that overwrites its arguments has no out=")
    return call


def to(call: Bound, out: Any) -> Bound:
    """Return a call that writes to given tensors."""
    return replace(call, kwargs={**call.kwargs, "out": out})


def overwritten(call: Bound) -> list[Any]:
    """Return the arguments that the op overwrites."""
    if not call.mutated:
        raise Unsupported("the op overwrites nothing")
    return [call.args[i] for i in call.mutated]


def require_gradients(call: Bound) -> None:
    """Let a gradient flow to what the op overwrites."""
    floats = [x for x in overwritten(call) if floating(x)]
    if not floats:
        raise Unsupported("no gradient flows to what the op overwrites")
    for x in floats:
        x.requires_grad_()


def tensors(result: Any) -> list[Any]:
    """Return the tensors that a call returned."""
    every: list[Any] = [*result] if isinstance(result, tuple) else [result]
    return [x for x in every if x is not None]


def floating(x: Any) -> bool:
    """Whether x is a tensor that a gradient can flow to."""
    return hasattr(x, "is_floating_point") and x.is_floating_point()


def warm(call: Bound) -> list[Any]:
    """Call with copies: the first call of a kind makes the shortcut, which the next ones take. Return what it gave."""
    return [tensors(call.map(lambda x: x.clone())()) for _ in range(3)][-1]


def versions(every: list[Any]) -> list[int]:
    """Return how often autograd thinks that the tensors were written."""
    return [x._version for x in every]


def versions_changed(before: list[int], every: list[Any]) -> bool:
    """Whether autograd noticed that all tensors were written."""
    return all(a < b for a, b in zip(before, versions(every)))


def refused(total: Any) -> bool:
    """Whether a backward pass says that something it needs was changed in place."""
    try:
        total.backward()
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return False


def watcher(torch: Any) -> Any:
    """Return a mode that remembers which functions were called under it."""

    class Watcher(torch.overrides.TorchFunctionMode):
        seen: ClassVar[list[Any]] = []

        def __torch_function__(self, f: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.seen.append(f)
            return f(*args, **(kwargs or {}))

    return Watcher


create = Aliasing
