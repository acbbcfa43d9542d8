"""Arrays on other devices than the first; the host stands for several of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opcast_worker.bound import Bound, Probes, Report, Unsupported, expecting
from opcast_worker.caller import Caller
from opcast_worker.gpu_memory import kind_of


class Devices(Probes):
    """Probes of where results lie."""

    def __init__(self, caller: Caller) -> None:
        """Keep the devices, too."""
        super().__init__(caller)
        self.all: list[Any] = self.framework.devices(kind_of(caller.config["device"]))

    def second(self) -> Any:
        """Return the second device."""
        if len(self.all) < 2:
            raise Unsupported("the machine has one device of this kind")
        return self.all[1]

    def probe_second(self, call: Bound) -> Any:
        """Pass arrays on the second device: results lie there."""
        second = self.second()
        result = call.map(lambda x: self.framework.device_put(x, second))()
        results: list[Any] = [*result] if isinstance(result, tuple) else [result]  # pyright: ignore[reportUnknownArgumentType]
        there = all(x is None or x.devices() == {second} for x in results)
        first = self.framework.device_put(result, self.all[0])
        return Report(first, {"on the second device": there})

    @expecting(refused=True)
    def probe_mixed_refused(self, call: Bound) -> Any:
        """Pass the last array on another device than the others."""
        second = self.second()
        places = [i for i, a in enumerate(call.args) if isinstance(a, self.caller.kind)]
        if len(places) < 2:
            raise Unsupported("the call has one array")
        args = [*call.args]
        args[places[-1]] = self.framework.device_put(args[places[-1]], second)
        # Only an array that was put somewhere on purpose is not moved by JAX itself.
        for place in places[:-1]:
            args[place] = self.framework.device_put(args[place], self.all[0])
        try:
            return replace(call, args=args)()
        except ValueError as error:
            if f": expected device {self.all[0].platform}" not in str(error):
                raise AssertionError(f"no word of the device that is expected: {error}") from error
            raise


create = Devices
