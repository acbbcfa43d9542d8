"""Classes of modules that call ops: a layer, and the class of the module that it stands in for.

Such a class has everything of that module: parameters, their names, how they begin, its repr. Only
its forward is the layer's.
"""

from __future__ import annotations

import functools
from typing import Any, cast

import torch
from torch.nn import Module

from ._layers import Layer, specs

__all__ = ["MARK", "constructed", "twin"]

MARK = "__opcast_layer__"
"""The attribute of such classes that names their layer."""


def constructed(cls: type[Layer]) -> type[Module]:
    """Return the class of the modules that a layer constructs."""
    name = specs[cls].module
    return twin(cls, _found(name) if name else None)


def _found(name: str) -> type[Module] | None:
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
