"""Ops that take lists of arrays: their forms for single arrays, one for each length of the lists.

The library enters the op for whole lists into PyTorch's registry, and its functions call that. Where
anybody watches or transforms a call, it becomes one of the form for the lengths at hand, an op of
single tensors, which is registered when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

import torch
from torch import Tensor

from .._collection import backend
from . import _autocast, _flops, _library
from ._framework import DTYPES, FRAMEWORK
from ._overload import WATCHED, Overload

KINDS = {"float": {float, int}, "int": {int}, "bool": {bool}}
"""The types of numbers that the registered op takes in the place of an input."""

_lock = RLock()  # PyTorch registers a name once


class Forms:
    """What an op with lists has beside other ops: a form for each length, with an overload of its own."""

    info: Any
    check: Callable[..., Any]
    takes_lists: bool
    places: tuple[tuple[int, Any], ...]
    """The inputs that may be numbers."""
    overload: Any
    """What PyTorch calls; absent for an op with lists, of which it calls the forms."""

    def keep_forms(self) -> None:
        """Begin without any form."""
        self.forms: dict[tuple[int, ...], Forms] = {}
        self.whole: Forms = self
        if self.takes_lists:
            self._existing = self.info.existing()
            packet = _library.packet(self.info.name)
            self.traced, _ = _library.overload(packet, "default")
            direct, call = _library.inner(packet, "direct", self.traced)
            _library.watch(direct, self._pass_on, WATCHED)
            self.lists = _library.with_classes(call)
            if self.places:
                numbers, call = _library.inner(packet, "numbers", self._pass_numbers)
                _library.watch(numbers, self._pass_numbers, WATCHED)
                self.lists_of_numbers = _library.with_classes(call)
            _library.watch(self.traced, self._pass_on, (*WATCHED, "Autograd"))

    def find_numbers(self) -> None:
        """Find the inputs that may be numbers, and the types of those."""
        self.places = backend.places(self.info)
        self._kinds = {i: KINDS[backend.number_type(self.info, a)] for i, a in self.places}

    def by_number(self, inputs: tuple[Any, ...]) -> bool:
        """Whether all inputs that may be numbers are some, as the library takes them."""
        given = [(inputs[i], a.optional, self._kinds[i]) for i, a in self.places]
        return bool(given) and all([type(x) in k or (o and x is None) for x, o, k in given])

    def arrays(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs without those numbers."""
        if not self.places or not self.by_number(inputs):
            return inputs
        return tuple([x for i, x in enumerate(inputs) if i not in self._kinds])

    def filled(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs with tensors in the place of numbers, where the first one is."""
        if not self.places:
            return inputs
        first = next((x for x in backend.flat(self.info, inputs) if isinstance(x, Tensor)), None)
        device = None if first is None else first.device

        def filled(value: Any, dtype: str) -> Tensor:
            if "float" in dtype:  # what is beyond the dtype becomes infinite
                return torch.full((), value, dtype=torch.float64, device=device).to(DTYPES[dtype])
            return torch.full((), value, dtype=DTYPES[dtype], device=device)

        return backend.stand_ins(self.info, FRAMEWORK, inputs, filled)

    def _pass_numbers(self, *args: Any) -> Any:
        count = len(self.info.inputs)
        return self._pass_on(*self.filled(args[:count]), *args[count:])

    def single(self, counts: tuple[int, ...]) -> Any:
        """Return the form for lists of these lengths."""
        with _lock:
            if counts not in self.forms:
                one = backend.form(self, counts)
                one.overload = Overload(one.info, one.check, compute=one.compute_lists)
                one.whole, one.takes_lists = self, False
                one.find_numbers()
                self.forms[counts] = one
        return self.forms[counts]

    def enter(self) -> None:
        """Register the form, if it is not."""
        with _lock:
            if not self.overload.registered:
                self.overload.register()
                _flops.register(self.whole.info, self.overload.packet, self.whole.forms)

    def trace_lists(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call the op for whole lists while torch.compile records it; return all results."""
        if not _autocast.anywhere():
            self.check(FRAMEWORK, *inputs, *attrs)
        made = self._existing(self.traced(*inputs, *attrs), (*inputs, *attrs))
        return (*made, *(x for a, x in zip(self.info.inputs, inputs) if a.mutated))

    def compute_lists(self, *args: Any) -> Any:
        """Call the op of a form for whole lists; return the arrays of the results one by one."""
        whole = self.whole.info
        count = len(self.info.inputs)
        counts = dict(zip(whole.lists, self.info.lengths))
        lists = backend.grouped(whole.inputs, counts, args[:count])
        call = self.lists_of_numbers if self.by_number(args[:count]) else self.lists
        made: tuple[Any, ...] = backend.as_tuple(call(*lists, *args[count:])) or ()
        flat = [y for a, x in zip(whole.outputs, made) for y in (x if a.per else (x,))]
        return tuple(flat) if len(flat) > 1 else flat[0] if flat else None

    def _pass_on(self, *args: Any) -> Any:
        count = len(self.info.inputs)
        inputs = args[:count]
        one = self.single(backend.lengths(self.info, inputs))
        one.enter()
        made = backend.as_tuple(one.overload.call(*backend.flat(self.info, inputs), *args[count:]))
        counts = dict(zip(self.info.lists, one.info.lengths))
        outputs = [a for a in self.info.outputs if not a.saved]
        results = tuple(backend.grouped(outputs, counts, made or ()))
        return results if len(results) > 1 else results[0] if results else None
