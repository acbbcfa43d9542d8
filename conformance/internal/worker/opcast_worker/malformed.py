"""What the probes of malformed calls share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from opcast_worker.bound import Bound, Probes

OTHERS: list[Any] = [
    "text",
    1.5,
    True,
    -1,
    [],
    (1, 2),
    b"",
    object(),
    1 << 70,
    print,
    type,
    float("nan"),
]


class Malformed(Probes):
    """Probes of calls that may raise anything."""

    def probe_types(self, call: Bound) -> Any:
        """Pass values of other types for every argument and attr, and too many or too few of them."""
        for other in OTHERS:
            for i in range(len(call.args)):
                survive(replaced(call, i, other))
            for name in [*call.kwargs, "out"]:
                survive(replace(call, kwargs={**call.kwargs, name: other}))
        for count in range(len(call.args)):
            survive(replace(call, args=call.args[:count]))
        survive(replace(call, args=[*call.args, *call.args]))


def survive(call: Callable[[], Any]) -> None:
    """Make a call that may raise anything."""
    try:
        call()
    except Exception:
        return


def each(call: Bound, change: Callable[[Any], Any]) -> None:
    """Change one array at a time, then all of them; a framework may refuse the change itself."""
    one(call, change)

    def every() -> Any:
        return call.map(change)()

    survive(every)


def one(call: Bound, change: Callable[[Any], Any]) -> None:
    """Change one array at a time."""
    for i, a in enumerate(call.args):
        if isinstance(a, call.kind):
            survive(lambda i=i, a=a: replaced(call, i, change(a))())


def replaced(call: Bound, i: int, value: Any) -> Bound:
    """Return a call with another argument."""
    return replace(call, args=[*call.args[:i], value, *call.args[i + 1 :]])
