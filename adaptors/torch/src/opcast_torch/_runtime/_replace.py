"""Swap the modules of a model for those that call ops, and say of each one what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from torch import Tensor
from torch.nn import Module

from .._collection import backend
from ._framework import FRAMEWORK
from ._layers import MARK, Arg, Layer, specs, twin

if TYPE_CHECKING:
    from ._spec import Spec

__all__ = ["Replaced", "replace"]


class Replaced(NamedTuple):
    """What became of the modules of a model."""

    swapped: dict[str, str]
    """The layer that stands in for a module, by the module's name in the model."""
    left: dict[str, str]
    """Why a module stays as it was, by its name; that of the model itself is empty."""

    def __str__(self) -> str:
        """Return one line for each module, the swapped ones first."""
        lines = [f"swapped {name or 'the model'}: {layer}" for name, layer in self.swapped.items()]
        lines += [f"left {name or 'the model'}: {reason}" for name, reason in self.left.items()]
        return "\n".join(lines)


def replace(model: Module, *, gradients: bool = True) -> Replaced:
    """Let the modules of a model call ops where a layer stands for them.

    A module that is swapped keeps its parameters, its names in the model, its hooks and its
    settings, and is still an instance of its class: only its forward is another. Every module that
    stays as it was has a reason.

    Parameters
    ----------
    model
        Changed in place.
    gradients
        Whether the model must have gradients: then a module whose op has none stays.

    Returns
    -------
    Replaced
        What was swapped, and why the rest was not.

    """
    swapped: dict[str, str] = {}
    left: dict[str, str] = {}
    dtypes = {p.dtype for p in model.parameters() if p.is_floating_point()}
    modules: dict[str, Module] = dict(cast("Any", model).named_modules())
    for name, module in modules.items():
        cls = _layer(module)
        reason = _unfit(module) if cls is None else _reason(specs[cls], module, gradients, dtypes)
        if cls is None or reason:
            left[name] = reason
            continue
        module.__class__ = twin(cls, type(module))
        swapped[name] = f"{specs[cls].name} for {type(module).__name__}"
    return Replaced(swapped, left)


def _path(cls: type) -> str:
    """Return the name by which a definition calls a module of PyTorch."""
    return f"torch.nn.{cls.__name__}" if cls.__module__.startswith("torch.nn.modules.") else ""


def _layer(module: Module) -> type[Layer] | None:
    """Return the layer that stands for a module's class; None for none."""
    kind = type(module)
    if hasattr(kind, MARK):
        return None
    for cls, spec in specs.items():
        if spec.module and spec.module == _path(kind):
            return cls
        if not kind.__module__.startswith("torch.") and kind.__name__ in spec.classes:
            return cls
    return None


def _unfit(module: Module) -> str:
    """Return why no layer stands for a module."""
    kind = type(module)
    if hasattr(kind, MARK):
        return f"is {getattr(kind, MARK)} already"
    known = {spec.module: spec.name for spec in specs.values() if spec.module}
    for base in kind.__mro__[1:]:
        if _path(base) in known:
            what = f"which is a {_path(base)} that may compute something else"
            return f"no layer stands for {kind.__name__}, {what}"
    return f"no layer stands for {kind.__name__}"


def _reason(spec: Spec, module: Module, gradients: bool, dtypes: set[Any]) -> str:
    """Return why a layer cannot stand in for a module, or nothing."""
    if "forward" in module.__dict__:
        return "has a forward of its own already"
    if gradients and not spec.info.backward:
        return f"{spec.info.name} has no gradient: gradients=False swaps it"
    try:
        spec.refuse(module)
        shape = spec.shape(module) if spec.trailing else (1,)
        if not shape:
            raise spec.error(ValueError, spec.trailing, "at least 1 dimension", "0")
        arrays = [spec.array(module, a) for a in spec.inputs if a is not None]
        for arg in spec.attrs:
            _check_attr(spec, arg, spec.attr(module, arg))
        for name in (*spec.joins, spec.then):
            if name and not isinstance(getattr(module, name, None), Module):
                raise spec.error(TypeError, name, "a module", type(module).__name__ + " without it")
        for x in arrays:
            if x is not None and not x.is_meta:
                backend.refuse_device(spec.info, FRAMEWORK.device(x).removesuffix(":0"))
    except (TypeError, ValueError, NotImplementedError) as error:
        return str(error)
    return _wrong_dtype(spec, {x.dtype for x in arrays if x is not None} or dtypes)


def _wrong_dtype(spec: Spec, dtypes: set[Any]) -> str:
    """Return what is wrong with the dtypes of a module's arrays, or nothing."""
    first = spec.info.inputs[0].type.partition("[")[0]
    allowed = spec.info.dtypes.get(first, (backend.LONG_NAMES.get(first, first),))
    for dtype in sorted(map(str, dtypes)):
        name = dtype.partition(".")[2]
        if name not in allowed:
            return str(spec.error(TypeError, "dtype", " or ".join(allowed), name))
    return ""


def _check_attr(spec: Spec, arg: Arg, value: Any) -> None:
    """Refuse a value that is of another type than the attribute of the op."""
    attr = next(a for a in spec.info.attrs if a.name == arg.name)
    where = arg.reads[0] if arg.reads else arg.name
    if value is None and not attr.required and attr.default is None:
        return
    if not any(_is(kind, value) for kind in _kinds(attr.type)):
        got = repr(value) if isinstance(value, str) else type(value).__name__
        raise spec.error(TypeError, where, attr.type, got)
    if attr.one_of and value not in attr.one_of:
        raise spec.error(ValueError, where, " or ".join(map(repr, attr.one_of)), repr(value))


def _kinds(kind: str) -> Iterator[str]:
    """Yield the forms that a value of an attribute may have."""
    yield kind
    if kind == "float" or (kind.startswith("int[") and kind != "int[]"):
        yield "int"


def _is(kind: str, value: Any) -> bool:
    """Whether a value has a form."""
    if kind.startswith("int["):
        length = kind[len("int[") : -1]
        many = type(value) in {tuple, list} and all(_is("int", n) for n in value)
        return many and length in {"", str(len(value))}
    if kind == "dtype":
        return not isinstance(value, (int, float, Tensor))
    types: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}
    return isinstance(value, types[kind]) and (kind == "bool") == isinstance(value, bool)
