"""FlopCounterMode: how many operations a call of an op needs, if its definition says so.

A counter knows the formulas that there are when it is made, so it is too late to register one when an
op is called. The module of counters takes a while to import, since it imports Triton.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._collection import backend
from ._framework import FRAMEWORK
from ._imports import when

_known: set[Any] = set()


def register(info: Any, packet: Any, singles: dict[tuple[int, ...], Any] | None = None) -> None:
    """Give an op its formula, for all overloads of its entry in PyTorch's registry.

    That is now, or when the module of counters is imported. An op that takes lists has overloads for its
    forms for single arrays, which are given by their lengths.
    """
    count = backend.checks.FLOPS.get(info.name)
    if count is None or packet in _known:
        return
    _known.add(packet)
    names = [a.name for a in (*info.inputs, *info.attrs)]

    def formula(*args: Any, out_val: Any = None, **named: Any) -> int:
        del out_val
        if singles is not None:
            return _of_lists(info, singles, count, args)
        given = {**dict(zip(names, args)), **named}
        return count(FRAMEWORK, *[given[name] for name in names])

    def tell(module: Any) -> None:
        module.register_flop_formula(packet, get_raw=True)(formula)

    when("torch.utils.flop_counter", "flop_registry", tell)


def _of_lists(info: Any, singles: Any, count: Callable[..., int], args: tuple[Any, ...]) -> int:
    """Return the operations of a call of an op that takes lists, given their arrays one by one."""
    attrs = len(info.attrs)
    for one in list(singles.values()):
        if len(one.info.inputs) + attrs != len(args):
            continue
        try:  # lists of other lengths may have as many arrays together
            one.check(FRAMEWORK, *args)
        except (TypeError, ValueError):
            continue
        single = backend.checker(count, info, one.info)
        return single(FRAMEWORK, *args)
    return 0
