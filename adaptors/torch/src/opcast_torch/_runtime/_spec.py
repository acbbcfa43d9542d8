"""Where a module has what an op needs, and what it must not have.

Nothing is guessed. What a layer needs it reads under the names that the definition of its op gives,
and a module with a setting, a parameter or a part that the definition does not mention is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import Module

from ._private import held
from ._state import compiling

if TYPE_CHECKING:
    from .._collection import backend

__all__ = ["OWN", "Arg", "Spec"]

_MISSING: Any = object()
OWN = frozenset(Module().__dict__) | {"forward"}
"""What every module has, and the name under which a module gets a forward of its own."""


class Arg(NamedTuple):
    """An argument of an op that the caller of its layer does not give."""

    name: str
    reads: tuple[str, ...] = ()
    """The names under which modules have it; none for a constant."""
    absent: Any = None
    """What it is, or what its elements are, where a module has None."""
    value: Any = None
    """The constant."""
    flat: bool = False
    """Whether its dims become one, as the trailing ones of the data do."""


class Spec(NamedTuple):
    """What the definition of an op says about a layer."""

    name: str
    function: Callable[..., Any]
    info: backend.Op
    inputs: tuple[Arg | None, ...]
    """One for each input of the op; None for those that the caller gives."""
    attrs: tuple[Arg, ...]
    module: str
    """The module of PyTorch that the layer is constructed as; empty where it is none."""
    classes: tuple[str, ...]
    expects: tuple[tuple[str, tuple[Any, ...]], ...]
    behind: int
    """How many dims of the data stand behind the one that leading dims replace; -1 for none."""
    leading: bool
    """Whether the op takes leading dims itself."""
    trailing: str
    """The setting whose dims become the last one; empty for none."""
    joins: tuple[str, ...]
    then: str
    settings: frozenset[str]
    """Every name that the layer knows."""
    arrays: frozenset[str]
    """Those that are parameters or buffers."""
    parts: frozenset[str]
    """Those that may be modules."""

    def error(self, kind: type[Exception], setting: str, expected: str, got: str) -> Exception:
        """Build the error about a setting of a module."""
        return kind(f"layers.{self.name}: {setting}: expected {expected}, got {got}")

    def refuse(self, module: Module) -> None:
        """Refuse a module that may compute something else than the op."""
        parameters, buffers, modules = held(module)
        if not (
            module.__dict__.keys() <= self.settings
            and parameters.keys() <= self.arrays
            and buffers.keys() <= self.arrays
            and modules.keys() <= self.parts
        ):
            self._refuse_unknown(module)
        for name, values in self.expects:
            value = self.read(module, name, (name,))
            if not any(_equal(value, v) for v in values):
                expected = " or ".join(map(repr, values))
                raise self.error(ValueError, name, expected, _shown(value))

    def _refuse_unknown(self, module: Module) -> None:
        """Refuse a module with something that the layer does not know; private names are no settings."""
        for name in module.__dict__:
            if name not in self.settings and not name.startswith("_"):
                raise self.error(TypeError, name, "no such setting", _shown(module.__dict__[name]))
        known_names = self.arrays, self.arrays, self.parts
        for group, known, what in zip(held(module), known_names, ("parameter", "buffer", "module")):
            for name, value in group.items():
                if value is not None and name not in known:
                    raise self.error(TypeError, name, f"no such {what}", type(value).__name__)

    def read(self, module: Module, name: str, reads: tuple[str, ...]) -> Any:
        """Return what a module has under one of some names."""
        found = _MISSING
        for setting in reads:
            value = _found(module, setting)
            if value is _MISSING:
                continue
            if found is not _MISSING and found is not value and not _equal(found, value):
                raise self.error(ValueError, name, f"one value of {' and '.join(reads)}", "two")
            found = value
        if found is _MISSING:
            got = f"a {type(module).__name__} without it"
            raise self.error(TypeError, name, f"a setting {' or '.join(reads)}", got)
        return found

    def array(self, module: Module, arg: Arg) -> Tensor | None:
        """Return an array of a module, which may be None if the op has a way to do without."""
        value = self.read(module, arg.name, arg.reads)
        if value is None and arg.absent is None and not self.optional(arg.name):
            raise self.error(TypeError, arg.reads[0], "torch.Tensor", "None")
        return value

    def optional(self, name: str) -> bool:
        """Whether an input of the op may be left out."""
        return any(a.name == name and a.optional for a in self.info.inputs)

    def attr(self, module: Module, arg: Arg) -> Any:
        """Return an attribute of the op."""
        if not arg.reads:
            return arg.value
        value = self.read(module, arg.name, arg.reads)
        return arg.absent if value is None else value

    def shape(self, module: Module) -> tuple[int, ...]:
        """Return the shape of the dims that become the last one: the setting, or that of a parameter."""
        value = _found(module, self.trailing)
        if value is not _MISSING:
            return (value,) if isinstance(value, int) else tuple(value)
        for arg in self.inputs:
            found = self.array(module, arg) if arg is not None and arg.flat else None
            if found is not None:
                return tuple(found.shape)
        got = f"a {type(module).__name__} without it"
        raise self.error(TypeError, self.trailing, "a shape", got)


def _found(module: Module, name: str) -> Any:
    """Return what a module has under a name; the usual places first, since errors of modules are slow."""
    for place in (module.__dict__, *held(module)):
        if name in place:
            return place[name]
    return getattr(module, name) if hasattr(type(module), name) else _MISSING


def _equal(value: Any, wanted: Any) -> bool:
    """Whether a setting has a value; a module has its class as one, and True is not 1."""
    if isinstance(value, Module):
        return type(value).__name__ == wanted
    if isinstance(value, torch.Tensor) or isinstance(value, bool) is not isinstance(wanted, bool):
        return False
    return bool(value == wanted)


def _shown(value: Any) -> str:
    """Return a value in few words."""
    if compiling():
        return type(value).__name__
    plain = value is None or type(value) in {bool, int, float, str, tuple, list}
    return repr(value)[:60] if plain else type(value).__name__
