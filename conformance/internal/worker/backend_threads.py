"""A call with a given number of the library's threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bound import Bound
    from caller import Caller


class Threads:
    """The probe of calls on several threads.

    Parameters
    ----------
    caller
        The caller whose library it is.

    """

    def __init__(self, caller: Caller) -> None:
        """Keep the caller."""
        self.caller = caller

    def probe_number(self, call: Bound) -> Any:
        """Make the call with as many threads as the option ``threads`` says."""
        native = self.caller.native
        before = native["_opcast_get_num_threads"]()
        native["_opcast_set_num_threads"](call.options["threads"])
        try:
            return call()
        finally:
            native["_opcast_set_num_threads"](before)


def create(caller: Caller) -> Threads:
    """Return the probe."""
    return Threads(caller)
