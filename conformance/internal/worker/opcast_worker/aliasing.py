"""Special calls in which a framework that follows gradients has to notice, or to refuse, that memory is written."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, ClassVar

from opcast_worker.bound import Bound, Probes, Report, Unsupported, expecting, refusal


class Aliasing(Probes):
    """Probes of versions and of the view that gradients have of memory. PyTorch and PaddlePaddle have both."""

    advice: str
    """What to do where no gradient is defined."""

    faults: ClassVar[tuple[type[Exception], ...]] = (RuntimeError,)
    """What a backward pass may raise."""

    keeper = "autograd saves"
    """Who keeps tensors for a backward pass, and what it does with them, in words."""

    bytes_of_products = 2
    """Of the narrowest floats that can be multiplied."""

    def versions(self, every: list[Any]) -> list[int]:
        """Return how often the framework thinks that tensors were written."""
        raise NotImplementedError

    def track(self, x: Any) -> Any:
        """Let a gradient flow to a tensor, and return it."""
        raise NotImplementedError

    def tracked(self, x: Any) -> bool:
        """Whether a gradient flows to a tensor."""
        raise NotImplementedError

    def overwrite(self, every: list[Any]) -> None:
        """Write to tensors where no gradient is followed."""
        raise NotImplementedError

    def untracked(self) -> AbstractContextManager[Any]:
        """Return a context in which no gradient is followed."""
        return self.framework.no_grad()

    def total(self, results: Any) -> Any:
        """Return the sum of all results that have a gradient."""
        return sum(self.summed(x) for x in tensors(results) if floating(x))

    def summed(self, x: Any) -> Any:
        """Return the sum of numbers, of complex ones that of their real parts: gradients are those of a real number."""
        return self.framework.real(x.sum()) if x.is_complex() else x.sum()

    def changed(self, before: list[int], every: list[Any]) -> bool:
        """Whether the framework noticed that all tensors were written."""
        return all(a < b for a, b in zip(before, self.versions(every)))

    @expecting(out=True)
    def probe_version_out(self, call: Bound) -> Any:
        """Write to given tensors, whose versions change."""
        made = functional(call)()
        before = self.versions(tensors(made))
        result = to(call, made)()
        return Report(result, {"bumped": self.changed(before, tensors(made))})

    def probe_version_mutated(self, call: Bound) -> Any:
        """Overwrite arguments; their versions change, those of the others stay."""
        targets = overwritten(call)
        rest = [x for x in call.arrays() if not any(x is t for t in targets)]
        before, others = self.versions(targets), self.versions(rest)
        result = call()
        stay = others == self.versions(rest)
        return Report(result, {"bumped": self.changed(before, targets), "others stay": stay})

    @expecting(out=True)
    def probe_stale_out(self, call: Bound) -> Any:
        """Write to a tensor that a node keeps: a backward pass must refuse its new contents."""
        made = functional(call)()
        return self.stale(tensors(made), to(call, made))

    def probe_stale_mutated(self, call: Bound) -> Any:
        """Overwrite a tensor that a node keeps: a backward pass must refuse its new contents."""
        return self.stale(overwritten(call), call)

    def stale(self, targets: list[Any], call: Bound) -> Report:
        """Let nodes keep tensors, call, and go backward."""
        products: list[Any] = []
        for x in targets:
            if floating(x) and x.element_size() >= self.bytes_of_products and 0 not in x.shape:
                products.append(self.summed(x * self.track(self.framework.ones_like(x))))
        if not products:
            raise Unsupported(f"nothing that {self.keeper} is written")
        with self.untracked():
            result = call()
        return Report(result, {"refused": all(self.refused(p) for p in products)})

    def probe_stale_saved(self, call: Bound) -> Any:
        """Change what the op itself keeps for its gradient: the backward pass must refuse it."""
        if not call.options["keeps"]:
            raise Unsupported("the gradient needs no input and no output")
        fresh, info = call.map(lambda x: x.clone() if floating(x) else x), self.caller.info(call.op)
        for a, x in zip(info.inputs, fresh.args):
            if isinstance(x, call.kind) and floating(x) and a.name not in info.no_grad:
                self.track(x)
        results = fresh()
        total = self.total(results)
        self.overwrite([*fresh.arrays(), *tensors(results)])
        return Report(results, {"refused": self.refused(total)})

    def refused(self, total: Any) -> bool:
        """Whether a backward pass says that something it needs was changed in place."""
        try:
            total.backward()
        except self.faults as error:
            return "modified by an inplace operation" in str(error)
        return False

    @expecting(refused=True, out=True)
    def probe_gradient_refused_out(self, call: Bound) -> Any:
        """Write to tensors that a gradient flows to."""
        made = functional(call)()
        followed = [self.track(x) for x in tensors(made) if floating(x)]
        if all(0 in x.shape for x in followed):
            raise Unsupported("no gradient flows to the outputs")
        return refusal(to(call, made), "expected no gradient to flow, got requires_grad")

    @expecting(refused=True, out=True)
    def probe_gradient_refused_given(self, call: Bound) -> Any:
        """Write to plain tensors while a gradient flows to an input."""
        made = functional(call)()
        fresh = call.map(lambda x: self.track(x.clone()) if floating(x) else x)
        if not any(floating(x) for x in fresh.arrays()):
            raise Unsupported("no gradient flows to the inputs")
        words = "no gradient is defined where out is given: " + self.advice
        return refusal(to(fresh, made), words)

    @expecting(refused=True)
    def probe_gradient_refused_mutated(self, call: Bound) -> Any:
        """Overwrite tensors that a gradient flows to."""
        self.track_overwritten(call)
        return refusal(call, self.advice)

    def probe_gradient_off(self, call: Bound) -> Any:
        """Overwrite tensors that a gradient flows to while gradients are off, as optimisers do."""
        self.track_overwritten(call)
        with self.untracked():
            return call()

    def track_overwritten(self, call: Bound) -> None:
        """Let a gradient flow to what the op overwrites."""
        floats = [x for x in overwritten(call) if floating(x)]
        if not floats:
            raise Unsupported("no gradient flows to what the op overwrites")
        for x in floats:
            self.track(x)

    def probe_gradient_one(self, call: Bound) -> Any:
        """Let a gradient flow to one tensor after the other: the shortcut for others may not lose it."""
        places = [i for i, x in enumerate(call.args) if floating(x) and i not in call.mutated]
        if not places:
            raise Unsupported("no input that a gradient flows to")
        for i in places:
            warm(call)
            fresh = call.map(lambda x: x.clone())
            self.track(fresh.args[i])
            try:
                made = [x for x in tensors(fresh()) if floating(x)]
            except NotImplementedError:  # there is none
                continue
            if made and not any(self.tracked(x) for x in made):
                raise AssertionError(f"lost the gradient of argument {i}")
        return call()


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


def tensors(result: Any) -> list[Any]:
    """Return the tensors that a call returned."""
    every: list[Any] = [*result] if isinstance(result, tuple) else [result]
    return [x for x in every if x is not None]


def floating(x: Any) -> bool:
    """Whether x is a tensor that a gradient can flow to."""
    return hasattr(x, "is_floating_point") and (x.is_floating_point() or x.is_complex())


def warm(call: Bound) -> list[Any]:
    """Call with copies: the first call of a kind makes the shortcut, which the next ones take. Return what it gave."""
    return [tensors(call.map(lambda x: x.clone())()) for _ in range(3)][-1]
