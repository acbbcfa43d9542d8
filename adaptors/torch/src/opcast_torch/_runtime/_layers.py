"""What the generated layers share: a class that lends its forward, and modules that it makes.

A module that a layer makes, or swaps, is of a class of its own: that of the module for which the
layer stands, with all that this has, and with the layer's forward.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import Tensor
from torch.nn import Module

from .._collection import backend
from ._spec import OWN, Arg, Spec

if TYPE_CHECKING:
    _Class = TypeVar("_Class", bound="type[Layer]")

__all__ = ["MARK", "Arg", "Layer", "call", "layer", "specs", "twin"]

MARK = "__opcast_layer__"
"""The attribute of such classes that names their layer."""

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
            return Module.__new__(_constructed(cls))
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
    settings = OWN | arrays | parts | read | ({trailing} - {""})

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
    if spec.trailing and len(shape) != 1:
        if not shape or tuple(x.shape[-len(shape) :]) != shape:
            got = f"[{', '.join(map(str, x.shape))}]"
            raise spec.error(ValueError, "data", f"a shape that ends with {list(shape)}", got)
        x = x.reshape(*x.shape[: -len(shape)], math.prod(shape))
    front = x.dim() - spec.behind
    lead = x.shape[:front] if 0 <= spec.behind and front >= 0 else None
    flat = lead is not None and len(lead) != 1 and not (spec.leading and lead)
    if flat and lead is not None:
        x = x.reshape(math.prod(lead), *x.shape[front:])
    given = iter((x, *data[1:]))
    inputs = [next(given) if a is None else _input(spec, module, a, x) for a in spec.inputs]
    attrs = {a.name: spec.attr(module, a) for a in spec.attrs}
    named = {a.name: x for a, x in zip(spec.info.inputs, inputs)}  # whatever the function's order
    result = spec.function(**named, **attrs)
    if flat or len(shape) > 1:
        back = lead if flat else None
        if isinstance(result, tuple):
            results: Iterable[Any] = cast("Any", result)
            result = tuple([_back(y, back, shape) for y in results])
        else:
            result = _back(result, back, shape)
    return getattr(module, spec.then)(result) if spec.then else result


def _input(spec: Spec, module: Module, arg: Arg, x: Tensor) -> Tensor | None:
    """Return an array of a module as the op takes it."""
    value = spec.array(module, arg)
    if value is None:
        return None if arg.absent is None else x.new_full((x.shape[-1],), arg.absent)
    return value.reshape(-1) if arg.flat and value.dim() != 1 else value


def _back(y: Any, lead: tuple[int, ...] | None, shape: tuple[int, ...]) -> Any:
    """Return a result with the leading and the trailing dims of the data; None where it is absent."""
    if y is None:
        return None
    own = tuple(y.shape)
    front = own if lead is None else (*lead, *own[1:])
    return y.reshape((*front[:-1], *shape) if len(shape) > 1 else front)


def _constructed(cls: type[Layer]) -> type[Module]:
    """Return the class of the modules that a layer constructs."""
    name = specs[cls].module
    return twin(cls, _named(name) if name else None)


def _named(name: str) -> type[Module] | None:
    """Return a module of PyTorch by its name; None where this version has none of that name."""
    value: Any = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return value


@functools.cache
def twin(cls: type[Layer], base: type[Module] | None) -> type[Module]:
    """Return the class of modules that are of a class, and have the forward of a layer."""
    spec = specs[cls]

    def initialise(self: Any, *args: Any, **settings: Any) -> None:
        if base is not None:
            cast("Any", base).__init__(self, *args, **settings)
            spec.refuse(self)
        else:
            Module.__init__(self)
            _settings(self, cls, args, settings)

    def reduced(self: Any, protocol: Any) -> Any:
        whole = cast("Any", super(made, self)).__reduce_ex__(protocol)
        return (_blank, (cls, base), *whole[2:])

    def shown(self: Any) -> str:
        return ", ".join(f"{n}={getattr(self, n)!r}" for a in spec.attrs for n in a.reads[:1])

    body: dict[str, Any] = {
        "__init__": initialise,
        "__reduce_ex__": reduced,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__ if base is None else base.__qualname__,
        "__doc__": cls.__doc__,
        MARK: f"{cls.__module__}.{cls.__qualname__}",
    }
    if base is None:
        body["extra_repr"] = shown
    bases: tuple[type, ...] = (cls,) if base is None else (cls, base)
    made: Any = type(cls.__name__ if base is None else base.__name__, bases, body)
    return made


def _settings(module: Any, cls: type[Layer], args: tuple[Any, ...], given: dict[str, Any]) -> None:
    """Give a module that stands for no other the attributes of its op."""
    spec = specs[cls]
    if args or spec.joins or spec.then or any(a is not None for a in spec.inputs):
        what = "it takes settings by name" if args else "it stands in for modules of other classes"
        raise TypeError(f"layers.{spec.name}: expected no construction like this: {what}")
    known = {a.name: a for a in spec.info.attrs}
    for arg in spec.attrs:
        for name in arg.reads[:1]:
            if name not in given and known[arg.name].required:
                raise TypeError(f"layers.{spec.name}: missing required argument '{name}'")
            setattr(module, name, given.pop(name, known[arg.name].default))
    for name in given:
        raise TypeError(f"layers.{spec.name}: unexpected keyword argument '{name}'")


def _blank(cls: type[Layer], base: type[Module] | None) -> Any:
    """Return a module without its state, for copies."""
    made: Any = twin(cls, base)
    return made.__new__(made)
