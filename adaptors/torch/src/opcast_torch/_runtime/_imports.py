"""Parts of PyTorch that are slow to import, and of which most programs need none.

What an op is to tell them is told when a program has imported them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_waiting: dict[str, list[Callable[[Any], None]]] = {}
_looking = threading.local()


def when(name: str, has: str, run: Callable[[Any], None]) -> None:
    """Call a function with a module, now or when the module is complete: when it has something of this name."""
    module = sys.modules.get(name)
    if hasattr(module, has):
        run(module)
        return
    if not _waiting:
        sys.meta_path.insert(0, _Finder())
    _waiting.setdefault(name, []).append(run)
    spec = getattr(module, "__spec__", None)
    if spec is not None:  # another thread imports it right now
        _watch(spec)


class _Finder(MetaPathFinder):
    """Finds no module, but has those that somebody waits for say when they have run."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Let another finder find the module: who asks may import it, or only want to know."""
        if fullname not in _waiting or getattr(_looking, "now", False):
            return None
        _looking.now = True
        try:
            spec = find_spec(fullname)
        finally:
            _looking.now = False
        if spec is not None:
            _watch(spec)
        return spec


def _watch(spec: ModuleSpec) -> None:
    """Have the loader of a module call what waits for it."""
    loader: Any = spec.loader
    if loader is None:
        return
    execute = loader.exec_module

    def exec_module(module: Any) -> None:
        execute(module)
        for run in _waiting.pop(spec.name, []):
            run(module)
        if not _waiting:
            sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _Finder)]

    loader.exec_module = exec_module
