"""Special calls in which PyTorch has to notice, or to refuse, that memory is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from opcast_worker.aliasing import Aliasing, floating, overwritten
from opcast_worker.bound import Bound, Report, Unsupported

ADVICE = "call it under torch.no_grad() or detach the inputs"
"""What to do where no gradient is defined."""


class TorchAliasing(Aliasing):
    """Probes of versions and of autograd's view of memory."""

    advice = ADVICE

    def versions(self, every: list[Any]) -> list[int]:
        """Return how often autograd thinks that the tensors were written."""
        return [x._version for x in every]

    def track(self, x: Any) -> Any:
        """Let a gradient flow to a tensor, and return it."""
        return x.requires_grad_()

    def tracked(self, x: Any) -> bool:
        """Whether a gradient flows to a tensor."""
        return x.requires_grad

    def overwrite(self, every: list[Any]) -> None:
        """Write to tensors where no gradient is followed."""
        with self.framework.no_grad():
            for x in every:
                x.mul_(1)

    def probe_version_negated(self, call: Bound) -> Any:
        """Overwrite tensors in a call that is not plain, since others are negated lazily."""
        every, args = overwritten(call), [*call.args]
        wide = [i for i, x in enumerate(args) if floating(x) and x.itemsize > 1]
        places = [i for i in wide if i not in call.mutated]
        if not places:
            raise Unsupported("the op overwrites all that it gets, or torch cannot negate it")
        for i in places:
            args[i] = self.framework._neg_view(-args[i])
        before = self.versions(every)
        results = replace(call, args=args)()
        return Report(results, {"bumped": self.changed(before, every)})

    def probe_version_dispatched(self, call: Bound) -> Any:
        """Overwrite arguments while a mode for functions is on, so that PyTorch itself passes the call on."""
        targets = overwritten(call)
        before = self.versions(targets)
        with self.framework.overrides.BaseTorchFunctionMode():
            result = call()
        return Report(result, {"bumped": self.changed(before, targets)})

    def probe_gradient_inference(self, call: Bound) -> Any:
        """Overwrite tensors of inference mode, which have no versions."""
        overwritten(call)
        with self.framework.inference_mode():
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
            if i in call.options["partners"] and call.args[i].dtype is self.framework.float32
        ]
        if not places:
            raise Unsupported("nothing is overwritten that another input could be wider than")
        notes: dict[str, Any] = {}
        for i in places:
            args = [a.bfloat16() if i == j else a for j, a in enumerate(call.args)]
            try:
                with self.framework.autocast("cpu", dtype=self.framework.bfloat16):
                    replace(call, args=args)()
                notes[f"refused {i}"] = False
            except TypeError as error:
                notes[f"refused {i}"] = str(error).startswith(call.op + ": ")
        return Report(call(), notes)


def watcher(torch: Any) -> Any:
    """Return a mode that remembers which functions were called under it."""

    class Watcher(torch.overrides.TorchFunctionMode):
        seen: ClassVar[list[Any]] = []

        def __torch_function__(self, f: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.seen.append(f)
            return f(*args, **(kwargs or {}))

    return Watcher


create = TorchAliasing
