"""What the generated ops of the PyTorch adaptor share: registration, and every call that is not direct.

A generated function calls the kernel's overload itself where neither the compiler nor forward-mode
derivatives are at work, and arguments are of the usual types. All other calls come here, and from
here to the overload that has everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from .._collection import backend
from . import _autocast, _autograd, _flops
from ._forms import KINDS, Forms
from ._framework import DTYPES, FRAMEWORK, refusal, refuse_layout
from ._overload import ObservedError, Overload
from ._private import direct, functorch
from ._state import (
    bump,
    compiling,
    grad_enabled,
    stands_for_tensor,
    wanted,
)

__all__ = [
    "BOOL",
    "FAULT",
    "FLOAT",
    "INT",
    "REQUIRED",
    "Op",
    "backend",
    "bump",
    "compiling",
    "direct",
    "grad_enabled",
    "ints",
    "ops",
    "torch",
]

REQUIRED: Any = None
FAULT = Exception
"""What may end a direct call: wrong arguments, an error of a kernel, or of a mode of a user's."""

FLOAT, INT, BOOL = KINDS.values()
_TENSORS = {Tensor, Parameter}
_PLAIN = {"float": float, "int": int, "bool": bool, "str": str}

ops: dict[str, Op] = {}


class Op(Forms):
    """One op: its kernel, its registration in PyTorch, and its calls that are not direct."""

    def __init__(self, name: str, schema: int) -> None:
        backend.function(name, schema)  # which refuses another schema
        self.info = backend.ops()[name]
        self.check: Callable[..., Any] = getattr(backend.checks, name)
        # Computed here: torch.compile of PyTorch 2.10 cannot.
        self.takes_lists = bool(self.info.lists)
        self.find_numbers()
        self.overload: Any = None
        self.direct: Any = None
        self.numbers: Any = None  # the same for numbers in the place of inputs
        self.inside: Any = None  # the same for a call that is a node
        if not self.takes_lists:
            saving = None
            if any(a.saved for a in self.info.outputs):
                saving = Overload(self.info, self.check)
            self.overload = Overload(self.info, self.check, saving, filled=self.filled)
            self.direct, self.inside = self.overload.bare, self.overload.saving.node
            self.numbers = self.overload.numbers
            _flops.register(self.info, self.overload.packet)
        self.keep_forms()
        self.function: Callable[..., Any]
        self._attrs = [a.name for a in self.info.attrs]
        # The types of attributes that the registered op takes as users give them.
        self._plain = [_PLAIN.get(a.type) for a in self.info.attrs]
        self.node: Any = None
        if self.info.derived_from and not self.takes_lists:
            self.node = _autograd.last_node(self.info, self._compute_flat, self._general)
        ops[name] = self

    def differentiable(
        self, forward: Callable[..., Any], backward: Callable[..., Any], returned: int = 0
    ) -> None:
        """Make the op's node; the arguments are those of ``_autograd.node``."""
        backward = _autograd.differentiated(self.info, backward)
        self.node = _autograd.node(self.info.name, forward, backward, self._general, returned)

    def publish(self, function: Callable[..., Any], required: int) -> None:
        """Show the generated function to users; the arguments are those of ``backend.publish``."""
        self.function = function
        backend.publish(function, required)

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any = None) -> Any:
        """Call the op in any state of PyTorch, after its checks."""
        if self.takes_lists:
            if compiling():
                return _bare(self.trace_lists(self.filled(inputs), self._dtypes(attrs)))
            return backend.call_lists(self, FRAMEWORK, inputs, attrs)
        if self.places and not (self.info.lengths and self._plainly(inputs, attrs)):
            inputs = self.filled(inputs)
        if out is not None and self._wrote(inputs, attrs, out):
            return out
        if compiling():
            return self._traced(inputs, attrs, out)
        if any(stands_for_tensor(x) for x in inputs):
            return self._dispatch(inputs, attrs, out)
        if self.info.lengths and self._plainly(inputs, attrs):
            return self._run_unchecked(inputs, attrs)
        outs = backend.as_tuple(out)
        inputs, values = self._judged(inputs, attrs, outs)
        if self.info.lengths and wanted(inputs):
            raise refusal(self.info)
        if outs is not None and wanted(inputs):
            raise NotImplementedError(
                f"{self.info.name}: no gradient is defined where out is given:"
                " call it under torch.no_grad() or detach the inputs"
            )
        if outs is None and not self.info.lengths:
            return self._dispatch(inputs, values, None)
        return self._run(inputs, values, out)

    def _wrote(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any) -> bool:
        """Whether a plain call wrote into given tensors at once: the registered op checks them."""
        outs = backend.as_tuple(out) or ()
        if not self._plainly(inputs, attrs):
            return False
        for x in outs:
            if type(x) is not Tensor or x.requires_grad or x.is_meta or x.is_neg():
                return False
        try:
            self.overload.into(*inputs, *attrs, *outs)
        except FAULT as fault:
            self._explain(fault, inputs, attrs, outs, outs)
        bump(outs)
        return True

    def _plainly(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> bool:
        """Whether a call has nothing that its C++ does not see: modes, gradients, other types."""
        if not direct() or functorch() is not None or _autocast.anywhere():
            return False
        if [type(v) for v in attrs] != self._plain:
            return False
        recorded = grad_enabled()
        for x in self.arrays(inputs):
            if type(x) not in _TENSORS or (x.requires_grad and recorded):
                return False
        return True

    def _run_unchecked(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """Call what knows no derivatives, whose checks in C++ suffice where they find nothing."""
        try:
            if any(x.is_meta or x.is_neg() for x in self._written(inputs)):
                inputs, attrs = self._judged(self.filled(inputs), attrs, None)
            return self._run(inputs, attrs, None)
        except FAULT as fault:
            self._explain(fault, inputs, attrs, None, self._written(inputs))

    def _written(self, inputs: tuple[Any, ...]) -> list[Any]:
        """Return the inputs that the op overwrites."""
        return [inputs[i] for i in self.overload.overwritten]

    def _explain(
        self, fault: Exception, inputs: Any, attrs: Any, outs: Any, written: Sequence[Any]
    ) -> None:
        """Raise why a call failed that was not checked, in the words of the checks where they know."""
        try:
            self._judged(self.filled(inputs), attrs, outs)
        except Exception as error:
            raise error from None
        bump(written)  # the kernel may have begun
        backend.reraise(fault)
        raise fault

    def failed(self, fault: Exception, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> None:
        """Raise why a direct call failed; return only if the general call copes with it."""
        if isinstance(fault, ObservedError) or (functorch() is not None and wanted(inputs)):
            return  # no node has been made
        if any(backend.is_number(inputs[i]) for i, _ in self.places):
            return  # nothing has been called: the general call puts tensors in the place of numbers
        if any(stands_for_tensor(x) for x in inputs):
            try:
                any(x.requires_grad for x in inputs if x is not None)
            except Exception:  # the proxies of torch.fx cannot say: so nothing has been called
                return
            raise fault
        try:
            self._refuse(inputs, None)
            _autocast.judge(self.info, self.check, inputs, attrs)
            self._refuse_device(inputs)
        except Exception as error:
            raise error from None
        bump(self._written(inputs))  # the kernel may have begun
        backend.reraise(fault)
        raise fault

    def _judged(self, inputs: Any, attrs: Any, outs: Any) -> tuple[Any, Any]:
        """Check the arguments; return the inputs as autocast has them, and the attributes' values."""
        self._refuse(inputs, outs)
        if _autocast.active(inputs):
            inputs = _autocast.cast(self.info, inputs)
        _, values = self.check(FRAMEWORK, *inputs, *attrs, outs)
        self._refuse_device(inputs)
        rest = iter(values)  # dtypes are not among them
        given = zip(self.info.attrs, attrs)
        return inputs, tuple([_dtype(v) if a.type == "dtype" else next(rest) for a, v in given])

    def _refuse(self, inputs: Any, outs: Any) -> None:
        outputs = [a for a in self.info.outputs if not a.saved]
        for arg, x in zip((*self.info.inputs, *outputs), (*inputs, *(outs or ()))):
            if isinstance(x, Tensor):
                refuse_layout(self.info.name, arg.name, x)

    def _refuse_device(self, inputs: Any) -> None:
        if not inputs[0].is_meta:
            backend.refuse_device(self.info, FRAMEWORK.device(inputs[0]))

    def _traced(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any) -> Any:
        """Call the op for torch.compile, which records what it calls."""
        if _autocast.active(inputs):
            inputs = _autocast.cast(self.info, inputs)
        self.check(FRAMEWORK, *inputs, *attrs, backend.as_tuple(out))
        return self._dispatch(inputs, attrs, out)

    def _run(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any) -> Any:
        """Call what knows no derivatives, for given outputs or for lists."""
        if not direct():
            return self._dispatch(inputs, attrs, out)
        outs = backend.as_tuple(out)
        if outs is not None:
            self.overload.into(*inputs, *attrs, *outs)
            bump(outs)
            return out
        made = self.overload.results(self.overload.compute(*inputs, *attrs), (*inputs, *attrs))
        written = self._written(inputs)
        bump(written)
        return _bare((*made, *written))

    def _dispatch(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any) -> Any:
        """Call the registered op; given outputs receive copies of the results."""
        if self.info.lengths:
            self.enter()
        call: Any = self.overload.call
        made = self.overload.results(call(*inputs, *self._dtypes(attrs)), (*inputs, *attrs))
        outs = backend.as_tuple(out)
        if outs is None:
            return _bare((*made, *self._written(inputs)))
        for given, result in zip(outs, made):
            if given is not None:
                given.copy_(result)
        return out

    def _dtypes(self, attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the attributes with PyTorch's dtypes where they are dtypes."""
        given = zip(self.info.attrs, attrs)
        return tuple([_dtype(v) if a.type == "dtype" else v for a, v in given])

    def compute(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Compute all outputs where no gradient is followed, those that only the gradient needs too."""
        saving = self.overload.saving
        return saving.results(saving.node(*inputs, *attrs), (*inputs, *attrs))

    def _compute_flat(self, *args: Any) -> tuple[Any, ...]:
        count = len(self.info.inputs)
        return self.compute(args[:count], args[count:])

    def _general(self, *args: Any) -> Any:
        count = len(self.info.inputs)
        return self._dispatch(args[:count], args[count:], None)


def ints(value: Any, count: int) -> list[int] | None:
    """Return integers as the registered op takes them, and None for what is not plainly that.

    A single one stands for all of them, if a definition says how many there are.
    """
    if type(value) is int and count > 0:
        return [value] * count
    items: Any = value if type(value) in {list, tuple} else (None,)
    return list(items) if all([type(item) is int for item in items]) else None


def _dtype(value: Any) -> Any:
    """Return a dtype of PyTorch for its name, long or short; what is no name stays as it is."""
    return DTYPES[backend.LONG_NAMES.get(value, value)] if isinstance(value, str) else value


def _bare(results: tuple[Any, ...]) -> Any:
    """Return a tuple of results; a single one comes bare, and nothing is None."""
    return results if len(results) > 1 else results[0] if results else None
