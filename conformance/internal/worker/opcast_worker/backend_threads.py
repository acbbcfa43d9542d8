"""A call with a given number of the library's threads."""

from __future__ import annotations

from typing import Any

from opcast_worker.bound import Bound, Probes


class Threads(Probes):
    """The probe of calls on several threads."""

    def probe_number(self, call: Bound) -> Any:
        """Make the call with as many threads as the option ``threads`` says."""
        native = self.caller.native
        before = native["_opcast_get_num_threads"]()
        native["_opcast_set_num_threads"](call.options["threads"])
        try:
            return call()
        finally:
            native["_opcast_set_num_threads"](before)


create = Threads
