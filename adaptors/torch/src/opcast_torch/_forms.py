"""Ops that take lists of arrays: their forms for single arrays, one for each length of the lists."""

from __future__ import annotations

from copy import copy
from threading import RLock
from typing import TYPE_CHECKING, Any

from . import _flops
from ._collection import backend
from ._state import compiling, constant

if TYPE_CHECKING:
    from collections.abc import Callable

_ops: dict[str, Forms] = {}
_lock = RLock()  # PyTorch registers a name once


class Forms:
    """What an op with lists has beside other ops: a form for each length, with an overload of its own."""

    info: Any
    check: Callable[..., Any]
    overload: Any
    """What PyTorch calls; absent for an op with lists, of which it calls the forms."""

    def keep_forms(self) -> None:
        """Begin without any form."""
        self._forms: dict[tuple[int, ...], Forms] = {}
        _ops[self.info.name] = self

    def single(self, counts: tuple[int, ...]) -> Any:
        """Return the form for lists of these lengths.

        It is registered when PyTorch is first to see a call.
        """
        _make(self.info.name, counts, compiling())
        return self._forms[counts]

    def make_form(self, counts: tuple[int, ...], seen: bool) -> None:
        """Make the form for lists of these lengths; register it if PyTorch is to see the call."""
        with _lock:
            if counts not in self._forms:
                one = copy(self)
                one.info = backend.single(self.info, counts)
                one.check = backend.checker(self.check, self.info, one.info)
                one.make_overloads()
                self._forms[counts] = one
            if seen:
                self._forms[counts].enter()

    def make_overloads(self) -> None:
        """Make what PyTorch calls."""
        raise NotImplementedError

    def enter(self) -> None:
        """Register the form, if it is not."""
        with _lock:
            if not self.overload.registered:
                self.overload.register()
                call: Any = self.overload.call
                _flops.register(_ops[self.info.name].info, call.overloadpacket, self._forms)


@constant
def _make(name: str, counts: tuple[int, ...], seen: bool) -> bool:
    """Make a form, in code that torch.compile does not trace."""
    _ops[name].make_form(counts, seen)
    return True
