"""Special calls about the memory of immutable arrays: what is donated may be reused, nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from opcast_worker.aliasing import overwritten
from opcast_worker.bound import Bound, Probes, Report


class Aliasing(Probes):
    """Probes of donation."""

    def probe_donation_none(self, call: Bound) -> Any:
        """Call eagerly and under jit and donate nothing: the arguments stay as they are."""
        before = [np.array(x) for x in overwritten(call)]
        self.framework.block_until_ready(call())
        result = self.framework.block_until_ready(self.donating(call, ())(*call.args))
        after = [np.asarray(x) for x in overwritten(call)]
        kept = all(a.tobytes() == b.tobytes() for a, b in zip(after, before))
        return Report(result, {"kept": kept})

    def probe_donation_used(self, call: Bound) -> Any:
        """Donate what the op overwrites: the results lie in its memory, and the arguments are gone."""
        owned = call.map(self.framework.numpy.copy)
        targets = overwritten(owned)
        addresses = [address(x) for x in targets]
        program = self.donating(call, call.mutated).lower(*owned.args).compile()
        result = self.framework.block_until_ready(program(*owned.args))
        every: list[Any] = [*result] if isinstance(result, tuple) else [result]
        notes = {
            "deleted": all(x.is_deleted() for x in targets),
            # Which of two results of one shape takes over the memory is for XLA to choose.
            "in its memory": {*addresses} <= {address(x) for x in every},
            "aliased by the program": "input_output_alias" in program.as_text(),
        }
        return Report(result, notes)

    def probe_donation_gone(self, call: Bound) -> Any:
        """Use a donated argument again: JAX must say that it is gone."""
        owned = call.map(self.framework.numpy.copy)
        overwritten(owned)
        result = self.framework.block_until_ready(self.donating(call, call.mutated)(*owned.args))
        try:
            self.framework.block_until_ready(owned())
        except (RuntimeError, ValueError) as error:
            return Report(result, {"refused": "deleted" in str(error)})
        return Report(result, {"refused": False})

    def donating(self, call: Bound, places: tuple[int, ...]) -> Any:
        """Return the jitted call that donates arguments."""

        def outer(*args: Any) -> Any:
            return call.function(*args, **call.kwargs)

        return self.framework.jit(outer, donate_argnums=places, compiler_options=self.caller.usual)


def address(array: Any) -> int:
    """Return where the elements of an array lie."""
    return array.unsafe_buffer_pointer() if array.size else 0


create = Aliasing
