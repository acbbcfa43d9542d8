"""What adaptors share whose calls run the kernel at once: those for NumPy, CuPy and PaddlePaddle."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ._faults import faithful
from ._gen.ops import OPS
from ._kernels import refuse_device
from ._library import DEVICES, function
from ._lists import call as call_lists
from ._lists import form
from ._meta import as_tuple
from ._numbers import Number, View, places, stand_ins
from ._variants import checks

if TYPE_CHECKING:
    from ._framework import Framework


class EagerOp:
    """One op: its kernel, its rules and its calls. An adaptor says how arrays are made and handed over.

    The schema is the hash of the definition from which the caller was generated.
    """

    framework: Framework
    """The rules' view of arrays."""

    def __init__(self, name: str, schema: int) -> None:
        self.kernel: Callable[..., Any] = function(name, schema)
        self.info = OPS[name]
        self.check: Callable[..., Any] = getattr(checks(), name)
        self.run: Callable[..., Any] = faithful(self.kernel)
        self._numbers = bool(places(self.info))
        self._takes_scratch = {kind for kind in DEVICES if self.info.takes_scratch(kind)}

    def allocate(self, specs: Iterable[Any], like: Any) -> list[Any]:
        """Return new arrays of these shapes and dtypes where another array is, None for absent ones."""
        raise NotImplementedError

    def launch(self, inputs: Any, attrs: Any, given: Any, specs: Any, values: Any) -> list[Any]:
        """Run the kernel after the checks, which returned specs and values; return all outputs."""
        raise NotImplementedError

    def single(self, counts: tuple[int, ...]) -> Any:
        """Return the form for single arrays, of an op whose lists have so many."""
        return form(self, counts)

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any = None) -> Any:
        """Call the op on any arrays, after its checks."""
        if self.info.lists:
            return call_lists(self, self.framework, inputs, attrs)
        given = as_tuple(out)
        if self._numbers:
            inputs = stand_ins(self.info, self.framework, inputs)
        specs, values = self.judged(inputs, attrs, given)
        if self._numbers:
            inputs = tuple(x.value if isinstance(x, Number) else x for x in inputs)
        made = self.launch(inputs, attrs, given, specs, values)
        if out is not None:
            return out
        outs = [y for y, a in zip(made, self.info.outputs) if not a.saved]
        results = *outs, *[x for x, a in zip(inputs, self.info.inputs) if a.mutated]
        return results[0] if len(results) == 1 else results

    def judged(self, inputs: Any, attrs: Any, given: Any) -> Any:
        """Check the arguments; return shapes and dtypes of outputs and scratch, and the attributes."""
        fw: Any = View(self.framework, inputs[0]) if self._numbers else self.framework
        checked = self.check(fw, *inputs, *attrs, given)
        refuse_device(self.info, self.framework.device(inputs[0]))
        return checked

    def outputs(self, given: Any, specs: Any, like: Any, saving: bool = False) -> list[Any]:
        """Return given or new outputs; None for those that are saved, unless they are wanted."""
        args = self.info.outputs
        if given:
            rest = iter(given)
            return [None if a.saved else next(rest) for a in args]
        needed = [s if saving or not a.saved else None for s, a in zip(specs, args)]
        return self.allocate(needed, like)

    def scratch(self, specs: Any, like: Any) -> list[Any]:
        """Return arrays to work in; None where no kernel for the device does."""
        wanted = specs[len(self.info.outputs) :]
        if wanted and self.framework.device(like).partition(":")[0] in self._takes_scratch:
            return self.allocate(wanted, like)
        return [None] * len(wanted)
