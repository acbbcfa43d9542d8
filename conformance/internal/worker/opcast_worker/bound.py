"""A call with its arguments, ready to be made, and the exceptions and errors around it."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

Request = dict[str, Any]
Answer = tuple[dict[str, Any], list[bytes]]

REFUSED = (TypeError, ValueError, NotImplementedError)
"""The classes with which an op refuses arguments."""


class Unsupported(Exception):
    """The framework cannot express what the request asks for."""


@dataclass(frozen=True)
class Report:
    """Results of a probe that has more to tell."""

    results: Any
    """What the op returned."""
    notes: dict[str, Any]
    """JSON values."""


def expecting(**traits: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a probe with what the suite has to know before it judges the call.

    ``refused``: the call must raise an error of ours; ``out``: it needs a function with ``out=``.
    """

    def mark(probe: Callable[..., Any]) -> Callable[..., Any]:
        vars(probe)["traits"] = traits
        return probe

    return mark


class Probes:
    """Special calls, each a method whose name begins with ``probe_``. Every note of a report must be true."""

    def __init__(self, caller: Any) -> None:
        """Keep the caller and, if it has imported one, the framework."""
        self.caller: Any = caller
        self.framework: Any = getattr(caller, caller.config["adaptor"], None)


def no_options() -> dict[str, Any]:
    """Return the options of a plain call."""
    return {}


@dataclass(frozen=True)
class Bound:
    """A function with its arguments."""

    function: Callable[..., Any]
    args: list[Any]
    kwargs: dict[str, Any]
    """What is called."""
    kind: type[Any] | tuple[type[Any], ...]
    """Type of the framework's arrays."""
    op: str = ""
    """Name of the op."""
    mutated: tuple[int, ...] = ()
    """Places in ``args`` of the inputs that the op overwrites."""
    options: dict[str, Any] = field(default_factory=no_options)
    """What a probe needs to know."""

    def __call__(self) -> Any:
        """Make the call."""
        return self.function(*self.args, **self.kwargs)

    def arrays(self) -> list[Any]:
        """Return the positional arguments that are arrays."""
        return [a for a in self.args if isinstance(a, self.kind)]

    def map(self, change: Callable[[Any], Any]) -> Bound:
        """Return the call with each array among the positional arguments changed."""
        return replace(self, args=[change(a) if isinstance(a, self.kind) else a for a in self.args])

    def map_one(self, change: Callable[[Any], Any], wanted: Callable[[Any], bool]) -> Bound:
        """Return the call with its first wanted array changed: two changes might cancel out."""
        for i, a in enumerate(self.args):
            if isinstance(a, self.kind) and wanted(a):
                return replace(self, args=[*self.args[:i], change(a), *self.args[i + 1 :]])
        raise Unsupported("no array of a suitable dtype")


def refusal(call: Bound, *words: str) -> Any:
    """Make a call that must be refused, in an error of ours that ends with one of these texts.

    What is refused goes on as the answer, as results do; other words do not.
    """
    try:
        return call()
    except REFUSED as error:
        text = str(error)
        if text.startswith(call.op + ": ") and text.endswith(words):
            raise
        raise AssertionError(f"want {call.op}: … {words[0]}, got {text}") from error


def refused_singly(call: Bound, change: Callable[[Any], Any], *words: str) -> Any:
    """Change one array of a right call after the other, since each is looked at by itself: no such call may compute.

    ``change`` makes an array that must be refused, in an error that ends with one of the words; None where there
    is none of its kind. The result is that of the right call.
    """
    tried = False
    for i, x in enumerate(call.args):
        changed = change(x) if isinstance(x, call.kind) else None
        if changed is None:
            continue
        tried = True
        try:
            refusal(replace(call, args=[*call.args[:i], changed, *call.args[i + 1 :]]), *words)
        except REFUSED:
            continue
        raise AssertionError(f"computed with {type(changed).__name__} as argument {i}")
    if not tried:
        raise Unsupported("no array that could be changed so")
    return call()


def exhausting(
    caller: Any, call: Bound, repeat: Callable[[list[Any], list[bool]], tuple[int, list[Any]]]
) -> Any:
    """Pass a row so often that no machine holds the results, then make the call itself.

    ``repeat`` returns how often, and the arguments with those repeated, in no memory of their own, of
    which the second list says so.
    """
    if not caller.backend:
        raise Unsupported("the allocations are not those of the package")
    op = caller.info(call.op)
    many = [x is not None and "*" in i.dims for x, i in zip(call.args, op.inputs)]
    if any(i.mutated for i in op.inputs) or not any("*" in o.dims for o in op.outputs):
        raise Unsupported("no results with leading dims of their own")
    rows, args = repeat(call.args, many)
    try:
        made = replace(call, args=args)()
    except Exception as error:
        if str(error) != f"{call.op}: out of memory" or type(error) is not MemoryError:
            raise AssertionError(f"want out of memory, got {error!r}") from error
        return call()
    results: list[Any] = [*made] if isinstance(made, tuple) else [made]
    returned = [o for o in op.outputs if not o.saved]
    for x, o in zip(results, returned):
        arrays: list[Any] = [*x] if isinstance(x, list) else [x]
        if "*" in o.dims and any(y is not None and math.prod(y.shape) for y in arrays):
            raise AssertionError(f"computed {rows} rows")
    raise Unsupported("the results with leading dims hold nothing")


class Memory(bytearray):
    """The memory behind arrays, and its copy on the device under test, which these arrays share."""

    on_device: Any = None

    def copied(self, copy: Callable[[], Any]) -> Any:
        """Return the copy on the device, which the first call makes."""
        if self.on_device is None:
            self.on_device = copy()
        return self.on_device


def memories(blobs: list[bytes]) -> list[Memory]:
    """Return the memory of a call's arrays: a copy of the bytes that came with it."""
    return [Memory(b) for b in blobs]


def memory(spec: Request, buffers: list[Memory]) -> Memory:
    """Return the buffer of an array."""
    blob: int = spec["blob"]
    return buffers[blob]


def tag(value: Any) -> dict[str, Any]:
    """Turn a default into a tagged value; floats travel as text, which keeps them exact."""
    if value is None:
        return {"none": None}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, str):
        return {"str": value}
    if isinstance(value, (tuple, list)):
        return {"ints": list(value)}  # pyright: ignore[reportUnknownArgumentType]
    return {"other": repr(value)}


def describe_error(error: BaseException) -> dict[str, str]:
    """Report class and text of an exception, and where it came from."""
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else kind.__module__ + "."
    return {
        "class": module + kind.__qualname__,
        "text": str(error),
        "trace": "".join(traceback.format_exception(error)[-3:]),
    }
