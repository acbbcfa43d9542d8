"""What definitions name as peers, for scripts that measure beside the same formulas as ``opcast bench``."""

from __future__ import annotations

import importlib
import inspect
from functools import cache, partial
from pathlib import Path
from typing import Any

_DEFINITIONS = Path(__file__).parents[1] / "opdefs"


@cache
def _module(op: str) -> dict[str, Any]:
    (path,) = _DEFINITIONS.rglob(f"{op}.py")
    scope: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), scope)
    return scope


def peer(op: str, framework: str, **settings: Any) -> Any:
    """Return the first peer of an op for a framework, as a function of its arrays alone."""
    function: Any = next(iter(_module(op)["peers"](framework).values()))
    first = next(iter(inspect.signature(function).parameters))
    return partial(function, importlib.import_module(first), **settings)
