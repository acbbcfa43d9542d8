"""What the generated layers share: where a module has what its op needs, and what it must not have.

A layer never guesses. What it needs it reads under the names that the definition of its op gives,
and a module with a setting, a parameter or a part that the definition does not mention is refused.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import torch
from torch.nn import Module

from ._collection import backend
from ._state import compiling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor

    _Class = TypeVar("_Class", bound="type[Layer]")

__all__ = ["Arg", "Layer", "Spec", "call", "layer", "specs"]

_MISSING: Any = object()
_OWN = frozenset(Module().__dict__) | {"forward"}
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
        held = module.__dict__
        if not (
            held.keys() <= self.settings
            and held["_parameters"].keys() <= self.arrays
            and held["_buffers"].keys() <= self.arrays
            and held["_modules"].keys() <= self.parts
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
        for group, known, what in (
            ("_parameters", self.arrays, "parameter"),
            ("_buffers", self.arrays, "buffer"),
            ("_modules", self.parts, "module"),
        ):
            for name, value in module.__dict__[group].items():
                if value is not None and name not in known:
                    raise self.error(TypeError, name, f"no such {what}", type(value).__name__)

    def read(self, module: Module, name: str, reads: tuple[str, ...]) -> Any:
        """Return what a module has under one of some names."""
        found = _MISSING
        for setting in reads:
            value = getattr(module, setting, _MISSING)
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
        value = getattr(module, self.trailing, _MISSING)
        if value is not _MISSING:
            return (value,) if isinstance(value, int) else tuple(value)
        for arg in self.inputs:
            found = self.array(module, arg) if arg is not None else None
            if found is not None:
                return tuple(found.shape)
        got = f"a {type(module).__name__} without it"
        raise self.error(TypeError, self.trailing, "a shape", got)


specs: dict[type[Layer], Spec] = {}
"""Those of all layers."""


class Layer(Module):
    """A module that calls an op.

    Its class has nothing but forward, so that it can lend it. Constructing it gives a module of a
    class that also has what the module of PyTorch has for which it stands.
    """

    def __new__(cls, *_args: Any, **_settings: Any) -> Any:
        """Return a module that is still to be initialised."""
        if cls in specs:
            from ._twins import constructed  # noqa: PLC0415 - which knows the layers

            return Module.__new__(constructed(cls))
        return super().__new__(cls)


def layer(
    function: Callable[..., Any],
    inputs: tuple[Arg | None, ...],
    attrs: tuple[Arg, ...] = (),
    module: str = "",
    classes: tuple[str, ...] = (),
    expects: tuple[tuple[str, tuple[Any, ...]], ...] = (),
    ignores: tuple[str, ...] = (),
    behind: int = -1,
    leading: bool = False,
    trailing: str = "",
    joins: tuple[str, ...] = (),
    then: str = "",
) -> Callable[[_Class], _Class]:
    """Say what a class of a layer stands for; the arguments are the fields of Spec."""
    arrays = frozenset(name for a in inputs if a is not None for name in a.reads)
    parts = frozenset([*joins, then, *(name for name, _ in expects), *ignores]) - {""}
    read = frozenset(name for a in attrs for name in a.reads)
    settings = _OWN | arrays | parts | read | ({trailing} - {""})

    def note(cls: _Class) -> _Class:
        specs[cls] = Spec(
            cls.__name__,
            function,
            backend.ops()[function.__name__],
            inputs,
            attrs,
            module,
            classes,
            expects,
            behind,
            leading,
            trailing,
            joins,
            then,
            settings,
            arrays,
            parts,
        )
        return cls

    return note


def call(cls: type[Layer], module: Any, *data: Tensor | None) -> Any:
    """Call the op of a layer with what the caller of a module gave, and what the module has."""
    spec = specs[cls]
    spec.refuse(module)
    x = cast("Tensor", data[0])
    if spec.joins:
        x = torch.cat([getattr(module, name)(x) for name in spec.joins], -1)
    shape = spec.shape(module) if spec.trailing else ()
    if len(shape) != 1 and spec.trailing:
        if tuple(x.shape[x.dim() - len(shape) :]) != shape or not shape:
            got = f"[{', '.join(map(str, x.shape))}]"
            raise spec.error(ValueError, "data", f"a shape that ends with {list(shape)}", got)
        x = x.reshape(*x.shape[: x.dim() - len(shape)], math.prod(shape))
    lead = x.shape[: x.dim() - spec.behind] if spec.behind >= 0 else ()
    flat = spec.behind >= 0 and len(lead) != 1 and not (spec.leading and lead)
    if flat:
        x = x.reshape(math.prod(lead), *x.shape[len(lead) :])
    given = iter((x, *data[1:]))
    inputs = [next(given) if a is None else _input(spec, module, a, x) for a in spec.inputs]
    attrs = {a.name: spec.attr(module, a) for a in spec.attrs}
    result = spec.function(*inputs, **attrs)
    if flat or len(shape) > 1:
        back = lead if flat else None
        many = isinstance(result, tuple)
        results: Iterable[Any] = cast("Any", result) if many else (result,)
        shaped = [_back(y, back, shape) for y in results]
        result = tuple(shaped) if many else shaped[0]
    return getattr(module, spec.then)(result) if spec.then else result


def _input(spec: Spec, module: Module, arg: Arg, x: Tensor) -> Tensor | None:
    """Return an array of a module as the op takes it."""
    value = spec.array(module, arg)
    if value is None:
        return None if arg.absent is None else x.new_full((x.shape[-1],), arg.absent)
    return value.reshape(-1) if spec.trailing and value.dim() != 1 else value


def _back(y: Tensor, lead: tuple[int, ...] | None, shape: tuple[int, ...]) -> Tensor:
    """Return a result with the leading and the trailing dims of the data."""
    own = tuple(y.shape)
    front = own if lead is None else (*lead, *own[1:])
    return y.reshape((*front[:-1], *shape) if len(shape) > 1 else front)


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
