"""What the collection says about an op, and what the adaptors' generated functions share."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable


class Arg(NamedTuple):
    """An input or output of an op."""

    name: str
    type: str
    """Dtype and dims as the definition writes them, such as ``T[*, N]``."""
    doc: str
    optional: bool = False
    stride: str = ""
    """Which strides the kernels take: dense (empty), ``last`` or ``any``. Other arrays are copied."""


class Attr(NamedTuple):
    """A keyword argument of an op that is not an array."""

    name: str
    type: str
    doc: str
    required: bool
    default: Any = None
    """None too where the default depends on sizes or dtypes."""
    one_of: tuple[str, ...] = ()
    """The allowed strings; empty where any value of the type and range is."""


class Op(NamedTuple):
    """An op of the collection."""

    name: str
    kind: int
    doc: str
    file: str
    schema: int
    """Hash of all that decides how the library is called."""
    dtypes: dict[str, tuple[str, ...]]
    devices: tuple[str, ...]
    inputs: tuple[Arg, ...]
    attrs: tuple[Attr, ...]
    outputs: tuple[Arg, ...]


def refuse_device(op: Op, device: str) -> None:
    """Refuse a device for which the collection has no kernel of the op."""
    if device.partition(":")[0] not in op.devices:
        text = f"{op.name}: no kernel for device {device}, available: {', '.join(op.devices)}"
        raise NotImplementedError(text)


def as_tuple(out: Any) -> tuple[Any, ...] | None:
    """Return the given outputs as a tuple; a single output comes bare."""
    if out is None or isinstance(out, tuple):
        return cast("tuple[Any, ...] | None", out)
    return (out,)


def publish(function: Callable[..., Any], required: int) -> None:
    """Show a generated function as the member of its package that users see.

    Required arrays have the default None, so that a missing one is reported in the words of the op;
    the signature says that they are required. The function also names the package, not the module
    inside it, as its home.
    """
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    parameters[:required] = [p.replace(default=p.empty) for p in parameters[:required]]
    shown: Any = function
    shown.__signature__ = signature.replace(parameters=parameters)
    shown.__module__ = function.__module__.partition(".")[0]
