"""The kernels of an op: which there are, on which devices, and which of them may run."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from ._gen.ops import OPS
from ._library import module, told
from ._name import NAME

if TYPE_CHECKING:
    from ._meta import Op

BUILT: tuple[str, ...] = tuple(told("_opcast_devices"))
"""Kinds of devices that the library was built for."""

registered: list[tuple[str, str, str]] = []
"""Op, name and device of each kernel that was registered while the process runs."""

inside = threading.local()
"""Its ``depth`` says how many registered kernels this thread is inside of."""

_switch = threading.Lock()
_forced: dict[str, list[str]] = {}
_barriers: list[Callable[[], None]] = []


def find(op: str) -> Op:
    """Return what the collection says about an op."""
    if op not in OPS:
        raise ValueError(f"{op}: expected an op of {NAME}, got an unknown name")
    return OPS[op]


def kernels(op: str) -> tuple[str, ...]:
    """Return the names of the op's kernels, in the order in which dispatch tries them."""
    return tuple(told("_opcast_kernels", find(op).name))


def devices(op: str) -> tuple[str, ...]:
    """Return the kinds of devices for which there is a kernel of the op, built in or registered."""
    built = [d for d in find(op).devices if d in BUILT]
    return tuple(
        dict.fromkeys([*built, *(device for o, _, device in tuple(registered) if o == op)])
    )


def refuse_device(op: Op, device: str) -> None:
    """Refuse a device for which there is no kernel of the op."""
    kind = device.partition(":")[0]
    if kind in op.devices and kind in BUILT:
        return
    known = devices(op.name)
    if kind not in known:
        text = f"{op.name}: no kernel for device {device}, available: {', '.join(known)}"
        raise NotImplementedError(text)


def on_switch(wait: Callable[[], None]) -> None:
    """Have every change of the kernels wait for a framework's pending calls."""
    _barriers.append(wait)


@contextlib.contextmanager
def use_kernel(op: str, name: str) -> Generator[None]:
    """Force one kernel of an op, in every thread of the process, until the block ends.

    Calls that are pending when the block begins or ends finish first. Blocks nest; among threads,
    the block that was entered last decides.

    Parameters
    ----------
    op
        Name of the op.
    name
        One of ``kernels(op)``. A kernel with parameters may be asked to use some, as
        ``product[rows=64]``; those that are left out have their first values.

    """
    if name.partition("[")[0] not in kernels(op):
        raise ValueError(f"{op}: expected one of the kernels {', '.join(kernels(op))}, got {name}")
    stack = _forced.setdefault(op, [])
    change(op, lambda: stack.append(name))
    try:
        yield
    finally:
        change(op, lambda: _remove_last(stack, name))


def change(op: str, edit: Callable[[], None]) -> None:
    """Edit which kernels of an op there are or may run, when the pending calls have ended."""
    if not getattr(inside, "depth", 0):  # a kernel that waited would wait for itself
        for wait in _barriers:
            wait()
    with _switch:
        before = list(_forced.get(op, ()))
        edit()
        if op not in _forced:
            return
        try:
            module["_opcast_force"](op, _forced[op][-1] if _forced[op] else "")
        except ValueError:  # the kernel went while this waited
            _forced[op][:] = before
            raise


def forget(op: str, name: str) -> None:
    """Let nobody force a kernel that goes."""
    if op in _forced:
        _forced[op][:] = [n for n in _forced[op] if n != name]


def _remove_last(stack: list[str], name: str) -> None:
    if name in stack:  # else the kernel has gone
        del stack[len(stack) - 1 - stack[::-1].index(name)]
