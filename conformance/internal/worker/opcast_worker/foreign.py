"""What was not generated: functions that an author names, and libraries without the functions about them."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from opcast_worker.bound import Unsupported


def resolve(target: str) -> Callable[..., Any]:
    """Return the function that "package.module:function" or "path/to/file.py:function" names."""
    place, _, name = target.rpartition(":")
    if place.endswith(".py"):
        module = imported(Path(place).resolve())
    else:
        module = importlib.import_module(place)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{name} is no function, it is of type {type(found).__name__}")
    return found


def imported(path: Path) -> ModuleType:
    """Import a file once. Files in a folder may import each other, as if one of them were run."""
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    # Before it runs: dataclasses, for one, look for the module of a class by its name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def package(targets: dict[str, str]) -> Any:
    """Return the functions of ops as if a package had them."""
    functions: dict[str, Any] = {}
    for op, target in targets.items():
        try:
            functions[op] = resolve(target)
        except (Exception, SystemExit) as error:  # the author's module may raise anything, or end
            raise Unsupported(f"{target}: {type(error).__name__}: {error}") from error
    return SimpleNamespace(**functions)


class Uncounted:
    """A library, or none, of which nobody counts the kernels that it starts: they are all told to be none."""

    def __init__(self, library: Any) -> None:
        """Keep the library."""
        self.library = library

    def __getitem__(self, name: str) -> Any:
        """Return an export, or a function in the place of one that tells about exports."""
        if name in {"_opcast_calls", "_opcast_force"}:
            return no_count
        if self.library is None:
            raise AttributeError(name)
        return self.library[name]


def no_count(*_: Any) -> int:
    """Count nothing."""
    return 0


def library(path: str) -> Any:
    """Load a library that was made by hand."""
    try:
        return Uncounted(importlib.import_module("tvm_ffi").load_module(path))
    except Exception as error:  # of the loader, or of what the library does first
        raise Unsupported(f"{path}: {type(error).__name__}: {error}") from error
