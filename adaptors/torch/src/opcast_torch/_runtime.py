"""What the generated ops of the PyTorch adaptor share: registration, and every call that is not plain.

A generated function calls the kernel itself when nobody watches: plain dense tensors and no
transformation. All other calls come here, and from here mostly to the registered op, which
torch.compile, export, vmap, fake and meta tensors, subclasses and the profiler understand.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import _autocast, _autograd, _flops, _sharding, _threads
from ._autograd import needed, node
from ._collection import backend
from ._forms import Forms
from ._framework import DTYPES, FRAMEWORK, refuse_layout
from ._overload import Overload
from ._results import allocator, layouts
from ._state import (
    alike,
    bump,
    compiling,
    forward_ad,
    function_mode,
    grad_enabled,
    ordinary,
    plain,
    profiler,
    stands_for_tensor,
    unusual,
    wanted,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    # A kind of tensors: the test for it, and what allocates results and scratch on its device; the
    # latter is None where no kernel takes any.
    _Kind = tuple[Callable[..., bool], Any, Any]

__all__ = [
    "FAULT",
    "REQUIRED",
    "Op",
    "again",
    "backend",
    "bump",
    "compiling",
    "forward_ad",
    "function_mode",
    "grad_enabled",
    "layouts",
    "needed",
    "node",
    "ops",
    "profiler",
    "torch",
]

REQUIRED: Any = None
FAULT = Exception  # whatever ends a plain call: the general one copes with it or says what is wrong
again = backend.again
ops: dict[str, Op] = {}
_SOME = 16  # kinds of arguments that an op's guard remembers

_threads.follow()


def _never(*_: Tensor) -> bool:
    return False


_NONE: _Kind = (_never, None, None)


class Op(Forms):
    """One op: its kernel, its registration in PyTorch, and its calls that are not plain.

    Parameters
    ----------
    name
        Name of the op.
    schema
        Schema hash of the definition from which the caller was generated.

    """

    def __init__(self, name: str, schema: int) -> None:
        self.kernel = backend.function(name, schema)
        self.info = backend.ops()[name]
        self.check: Callable[..., Any] = getattr(backend.checks, name)
        self.overload: Any = None
        self._saving: Any = None
        if not self.info.lists:
            self.make_overloads()
            _flops.register(self.info, self.overload.call.overloadpacket)
        self.keep_forms()
        self.function: Callable[..., Any]
        # The guard of the generated function asks the first about its required tensors, and one
        # each about its optional ones. They are the last kinds that passed; the rest is memory.
        self.plain: list[_Kind] = [_NONE]
        self.plain += [_NONE for a in self.info.inputs if a.optional]
        self._known: list[list[_Kind]] = [[] for _ in self.plain]
        self._attrs = [a.name for a in self.info.attrs]
        self._optional = any(a.optional for a in self.info.inputs)
        # Tests of arguments from which a gradient is wanted, by which of the inputs are absent; and
        # that of the generated function, if all are always given.
        self._tracked: dict[tuple[bool, ...], Callable[..., bool]] = {}
        self.tracked: Callable[..., bool] = _never
        self.node: Any = None
        if self.info.derived_from:
            self.node = _autograd.last_node(self.info, self._positional)
        ops[name] = self

    def make_overloads(self) -> None:
        """Make what PyTorch calls."""
        self.overload = Overload(self.info, self.kernel, self.check, saved=False)
        self._saving = self.overload
        if any(a.saved for a in self.info.outputs):
            self._saving = Overload(self.info, self.kernel, self.check, saved=True)

    def publish(self, function: Callable[..., Any], required: int) -> None:
        """Show the generated function to users; the arguments are those of ``backend.publish``."""
        self.function = function
        backend.publish(function, required)

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any = None) -> Any:
        """Call the op in any state of PyTorch, after its checks."""
        if self.info.lists:
            return backend.call_lists(self, FRAMEWORK, inputs, attrs)
        if compiling():
            return self._traced(inputs, attrs, out)
        if out is None and self._optional and grad_enabled() and not unusual():
            given, absent = self._presence(inputs)
            if absent in self._tracked and whole(given) and self._tracked[absent](*given):
                return self.node(*inputs, *attrs)
        outs = backend.as_tuple(out)
        if any(stands_for_tensor(x) for x in inputs):
            return self._dispatch(inputs, attrs, out)
        shortcut = None if outs is not None else self._shortcut(inputs, attrs)
        if shortcut is not None:
            return shortcut()
        given = inputs + (outs or ())
        for arg, x in zip(self.info.inputs + self.overload.outputs, given):
            if isinstance(x, Tensor):
                refuse_layout(self.info.name, arg.name, x)
        if _autocast.active(inputs):
            inputs = _autocast.widen(self.info, inputs)
        specs, values = self.check(FRAMEWORK, *inputs, *attrs, outs)
        if not inputs[0].is_meta:
            backend.refuse_device(self.info, FRAMEWORK.device(inputs[0]))
        if outs is not None and wanted(inputs):
            raise NotImplementedError(
                f"{self.info.name}: no gradient is defined where out is given:"
                " call it under torch.no_grad() or detach the inputs"
            )
        if (wanted(inputs) or not plain(given)) and not self._too_large(inputs, given):
            _sharding.ready()
            return self._dispatch(inputs, self._normal(attrs, values), out)
        return self._run(inputs, specs, values, out)

    def _too_large(self, inputs: tuple[Any, ...], given: tuple[Any, ...]) -> bool:
        """Whether a call runs past PyTorch's registry, which cannot hold an op with so many arguments."""
        if self.overload.large and wanted(inputs):
            raise _autograd.refusal(self.info)
        return self.overload.large and ordinary(given)

    def _traced(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any) -> Any:
        """Call the op for torch.compile, which records what it calls."""
        _sharding.ready()
        if _autocast.active(inputs):
            inputs = _autocast.widen(self.info, inputs)
        self.check(FRAMEWORK, *inputs, *attrs, backend.as_tuple(out))
        return self._dispatch(inputs, attrs, out)

    def _shortcut(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """Return how to make a plain call that only wants a gradient or has been seen before."""
        missing = any(x is None and not a.optional for a, x in zip(self.info.inputs, inputs))
        if missing or not plain(inputs) or _autocast.active(inputs):
            return None
        if self.info.lengths:  # no generated function makes the call
            return None
        if not wanted(inputs):
            keywords = dict(zip(self._attrs, attrs))
            return partial(self.function, *inputs, **keywords) if self._recall(inputs) else None
        if not self.info.backward and not self.info.derived_from:
            return None
        given, absent = self._presence(inputs) if self._optional else (inputs, ())
        if not any(x.is_neg() or x.is_conj() for x in given):
            self._tracked[absent] = self.tracked = alike(given, tracked=True)
        return partial(self.node, *inputs, *attrs)

    def _presence(self, inputs: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
        """Return the inputs that are given, and which are not."""
        return tuple([x for x in inputs if x is not None]), tuple([x is None for x in inputs])

    def _recall(self, inputs: tuple[Any, ...]) -> bool:
        """Whether the guard passes plain tensors of a kind that it has seen, only not last.

        A new kind is remembered. Of lazily negated tensors the general call makes copies.
        """
        optional = [(x,) for a, x in zip(self.info.inputs, inputs) if a.optional]
        groups = [tuple(x for a, x in zip(self.info.inputs, inputs) if not a.optional), *optional]
        found = False
        for i, group in enumerate(groups):
            if any(x is None or x.is_neg() or x.is_conj() for x in group):
                continue
            known = self._known[i]
            if self.plain[i][0](*group):
                continue
            match = next((kind for kind in known if kind[0](*group)), None)
            found = found or match is not None
            self.plain[i] = match or self._kind(group)
            if match is None:
                known[_SOME - 1 :] = []
                known.insert(0, self.plain[i])
        return found

    def _kind(self, group: tuple[Tensor, ...]) -> _Kind:
        """Return the kind of some tensors."""
        device = group[0].device
        empty = allocator(device)
        return alike(group), empty, empty if self.info.takes_scratch(device.type) else None

    def once(self, fault: Exception) -> None:
        """Raise what a kernel raised that may have overwritten its inputs: it must not run again."""
        again(fault)
        ours = str(fault).startswith(self.info.name + ":")  # PyTorch's come before
        if ours and type(fault) in {RuntimeError, MemoryError}:
            raise fault

    def _run(self, inputs: Any, specs: Any, values: Any, out: Any) -> Any:
        """Run the kernel on plain tensors."""
        written = [x for a, x in zip(self.info.inputs, inputs) if a.mutated]
        if written:
            bump([x for x in written if x is not None])
        outs: Any = backend.as_tuple(out)
        if outs is None:
            outs = self.overload.allocate(inputs[0], specs)
        else:
            outs = (*outs, *(None for a in self.info.outputs if a.saved))
        self.overload.launch(outs, inputs, specs, values)
        if out is not None:
            bump([x for x in outs if x is not None and not x.is_inference()])
            return out
        made = [x for a, x in zip(self.info.outputs, outs) if not a.saved]
        return _bare((*made, *written))

    def _normal(self, attrs: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return all attributes as the checks normalised them; they leave dtypes out."""
        rest = iter(values)
        return tuple(v if a.type == "dtype" else next(rest) for a, v in zip(self.info.attrs, attrs))

    def _dispatch(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any) -> Any:
        """Call the registered op; given outputs receive copies of the results."""
        kinds = [a.type for a in self.info.attrs]
        values = [_dtype(v) if kind == "dtype" else v for kind, v in zip(kinds, attrs)]
        if not self.overload.registered:
            self.enter()
        call: Any = self.overload.call
        made = self.overload.results(call(*inputs, *values), inputs)
        outs = backend.as_tuple(out)
        if outs is None:
            return _bare((*made, *(x for a, x in zip(self.info.inputs, inputs) if a.mutated)))
        for given, result in zip(outs, made):
            if given is not None:
                given.copy_(result)
        return out

    def compute(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> list[Any]:
        """Compute all outputs of a plain call, those that only the gradient needs too."""
        specs, values = self.check(FRAMEWORK, *inputs, *attrs)
        outs = self._saving.allocate(inputs[0], specs)
        self._saving.launch(outs, inputs, specs, values)
        return outs

    def _positional(self, *args: Any) -> Any:
        count = len(self.info.inputs)
        return self.function(*args[:count], **dict(zip(self._attrs, args[count:])))


def _dtype(value: Any) -> Any:
    """Return a dtype of PyTorch for its name, long or short; what is no name stays as it is."""
    return DTYPES[backend.LONG_NAMES.get(value, value)] if isinstance(value, str) else value


def _bare(results: tuple[Any, ...]) -> Any:
    """Return a tuple of results; a single one comes bare, and nothing is None."""
    return results if len(results) > 1 else results[0] if results else None
