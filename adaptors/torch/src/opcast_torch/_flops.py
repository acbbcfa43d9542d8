"""FlopCounterMode: how many operations a call of an op needs, if its definition says so.

A counter knows the formulas that there are when it is made, so it is too late to register one when an
op is called. The module of counters takes a while to import, since it imports Triton. So formulas are
registered as soon as somebody has imported it.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ._collection import backend
from ._framework import FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec

_MODULE = "torch.utils.flop_counter"

_known: set[Any] = set()
_waiting: list[tuple[Any, Callable[..., int]]] = []


def register(info: Any, packet: Any, singles: dict[tuple[int, ...], Any] | None = None) -> None:
    """Give an op its formula, now or when the module of counters is imported.

    Parameters
    ----------
    info
        The op.
    packet
        Its entry in PyTorch's registry, for all overloads.
    singles
        The forms for single arrays of an op that takes lists, by their lengths; overloads have those.

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

    module = sys.modules.get(_MODULE)
    if hasattr(module, "flop_registry"):  # else it is about to be imported
        _tell(module, packet, formula)
    else:
        if not _waiting:
            sys.meta_path.insert(0, _Finder())
        _waiting.append((packet, formula))


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


def _tell(module: Any, packet: Any, formula: Callable[..., int]) -> None:
    module.register_flop_formula(packet, get_raw=True)(formula)


class _Finder(MetaPathFinder):
    """Finds no module, but waits for the one of counters."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Let another finder find the module, and register the formulas when it has run."""
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(_MODULE)
        loader: Any = spec and spec.loader
        if loader is not None:
            run = loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                while _waiting:
                    _tell(module, *_waiting.pop())

            loader.exec_module = exec_module
        return spec
