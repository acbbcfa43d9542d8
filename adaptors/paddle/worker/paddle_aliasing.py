"""Special calls in which PaddlePaddle has to notice, or to refuse, that memory is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bound import Bound, Report, Unsupported, expecting, refusal
from paddle_transform import ADVICE, tracked

if TYPE_CHECKING:
    from caller import Caller


class Aliasing:
    """Probes of versions and of the view that gradients have of memory.

    Every note must be true. Those marked as refused must raise an error of ours.

    Parameters
    ----------
    caller
        The caller for PaddlePaddle.

    """

    def __init__(self, caller: Caller) -> None:
        """Keep the framework."""
        self.paddle: Any = vars(caller)["paddle"]

    @expecting(out=True)
    def probe_version_out(self, call: Bound) -> Any:
        """Write to given tensors, whose versions change."""
        made = functional(call)()
        before = versions(tensors(made))
        result = to(call, made)()
        return Report(result, {"bumped": changed(before, tensors(made))})

    def probe_version_mutated(self, call: Bound) -> Any:
        """Overwrite arguments; their versions change, those of the others stay."""
        targets = overwritten(call)
        rest = [x for x in call.arrays() if not any(x is t for t in targets)]
        before, others = versions(targets), versions(rest)
        result = call()
        notes = {"bumped": changed(before, targets), "others stay": others == versions(rest)}
        return Report(result, notes)

    @expecting(out=True)
    def probe_stale_out(self, call: Bound) -> Any:
        """Write to a tensor that a node of PaddlePaddle keeps: a backward pass must refuse its new contents."""
        made = functional(call)()
        return self.stale(tensors(made), to(call, made))

    def probe_stale_mutated(self, call: Bound) -> Any:
        """Overwrite a tensor that a node of PaddlePaddle keeps: a backward pass must refuse its new contents."""
        return self.stale(overwritten(call), call)

    def stale(self, targets: list[Any], call: Bound) -> Report:
        """Let a node keep tensors, call, and go backward."""
        products: list[Any] = []
        for target in targets:
            if floating(target) and target.element_size() > 2 and target.size:  # which multiply
                products.append((target * tracked(self.paddle.ones_like(target))).sum())
        if not products:
            raise Unsupported("nothing that a node keeps is written")
        with self.paddle.no_grad():
            result = call()
        return Report(result, {"refused": all(refused(p) for p in products)})

    def probe_stale_saved(self, call: Bound) -> Any:
        """Change what the op itself keeps for its gradient: the backward pass must refuse it."""
        if not call.options["keeps"]:
            raise Unsupported("the gradient needs no input and no output")
        fresh = call.map(lambda x: tracked(x.clone()) if floating(x) else x)
        results = fresh()
        total = sum(x.astype("float32").sum() for x in tensors(results) if floating(x))
        for x in [*fresh.arrays(), *tensors(results)]:
            x.detach()._bump_inplace_version()
        return Report(results, {"refused": refused(total)})

    @expecting(refused=True, out=True)
    def probe_gradient_refused_out(self, call: Bound) -> Any:
        """Write to tensors that a gradient flows to."""
        made = functional(call)()
        if not sum(tracked(x).size for x in tensors(made) if floating(x)):
            raise Unsupported("no gradient flows to the outputs")
        return refusal(to(call, made), "expected no gradient to flow, got requires_grad")

    @expecting(refused=True, out=True)
    def probe_gradient_refused_given(self, call: Bound) -> Any:
        """Write to plain tensors while a gradient flows to an input."""
        made = functional(call)()
        fresh = call.map(lambda x: tracked(x.clone()) if floating(x) else x)
        if not any(floating(x) for x in fresh.arrays()):
            raise Unsupported("no gradient flows to the inputs")
        return refusal(to(fresh, made), "no gradient is defined where out is given: " + ADVICE)

    @expecting(refused=True)
    def probe_gradient_refused_mutated(self, call: Bound) -> Any:
        """Overwrite tensors that a gradient flows to."""
        require_gradients(call)
        return refusal(call, ADVICE)

    def probe_gradient_off(self, call: Bound) -> Any:
        """Overwrite tensors that a gradient flows to while gradients are off, as optimisers do."""
        require_gradients(call)
        with self.paddle.no_grad():
            return call()

    def probe_gradient_one(self, call: Bound) -> Any:
        """Let a gradient flow to one tensor after the other: none may be lost."""
        places = [i for i, x in enumerate(call.args) if floating(x) and i not in call.mutated]
        if not places:
            raise Unsupported("no input that a gradient flows to")
        for i in places:
            fresh = call.map(lambda x: x.clone())
            tracked(fresh.args[i])
            try:
                made = [x for x in tensors(fresh()) if floating(x)]
            except NotImplementedError:  # there is none
                continue
            if made and all(x.stop_gradient for x in made):
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


def require_gradients(call: Bound) -> None:
    """Let a gradient flow to what the op overwrites."""
    floats = [x for x in overwritten(call) if floating(x)]
    if not floats:
        raise Unsupported("no gradient flows to what the op overwrites")
    for x in floats:
        tracked(x)


def tensors(result: Any) -> list[Any]:
    """Return the tensors that a call returned."""
    every: list[Any] = [*result] if isinstance(result, tuple) else [result]
    return [x for x in every if x is not None]


def floating(x: Any) -> bool:
    """Whether x is a tensor that a gradient can flow to."""
    return hasattr(x, "is_floating_point") and x.is_floating_point()


def versions(every: list[Any]) -> list[int]:
    """Return how often PaddlePaddle thinks that the tensors were written."""
    return [x.inplace_version for x in every]


def changed(before: list[int], every: list[Any]) -> bool:
    """Whether PaddlePaddle noticed that all tensors were written."""
    return all(a < b for a, b in zip(before, versions(every)))


def refused(total: Any) -> bool:
    """Whether a backward pass says that something it needs was changed in place."""
    try:
        total.backward()
    except (RuntimeError, OSError) as error:  # PaddlePaddle's own, and one that quotes ours
        return "modified by an inplace operation" in str(error)
    return False


create = Aliasing
