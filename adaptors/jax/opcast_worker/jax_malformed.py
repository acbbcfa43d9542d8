"""Values that no one should pass, and custom calls past the adaptor's checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from opcast_worker.bound import Bound
from opcast_worker.malformed import Malformed, each, survive


class JaxMalformed(Malformed):
    """Probes of what only JAX has; any of them may raise anything."""

    def probe_deleted(self, call: Bound) -> Any:
        """Pass arrays whose memory is gone."""

        def deleted(x: Any) -> Any:
            x = self.framework.numpy.copy(x)
            x.delete()
            return x

        each(call, deleted)

    def probe_escaped(self, call: Bound) -> Any:
        """Pass tracers of a trace that has ended."""
        left: list[Any] = []

        def escape(x: Any) -> Any:
            left.clear()
            self.framework.jit(left.append)(x)
            return left[0]

        each(call, escape)

    def probe_keys(self, call: Bound) -> Any:
        """Pass keys of random numbers, whose dtype is none of NumPy's."""
        each(call, lambda _: self.framework.random.key(0))

    def probe_custom_call(self, call: Bound) -> Any:
        """Call the handler itself with attributes missing, surplus or of other types."""
        result = call()
        results: list[Any] = [*result] if isinstance(result, tuple) else [result]
        specs = [
            self.framework.ShapeDtypeStruct(x.shape, x.dtype) for x in results if x is not None
        ]
        arrays = call.arrays()
        wrong: list[dict[str, Any]] = [{}, {"no_such_attribute": np.int64(1)}]
        for name in ("eps", *call.kwargs):
            for value in (np.int64(1), np.float64(1), True, "text", np.zeros(3, np.int64)):
                wrong.append({name: value})
        for fields in wrong:
            self.custom(call.op, specs, arrays, fields)
        self.custom(call.op, specs, arrays[:-1], {})
        self.custom(call.op, specs, [*arrays, *arrays], {})
        self.custom(call.op, [], arrays, {})
        self.custom(call.op, [*specs, *specs], arrays, {})

    def custom(self, op: str, specs: list[Any], arrays: list[Any], fields: dict[str, Any]) -> None:
        """Call a handler past the adaptor."""
        target = self.framework.ffi.ffi_call(f"{self.caller.config['namespace']}.{op}", specs)
        survive(lambda: self.framework.block_until_ready(target(*arrays, **fields)))


create = JaxMalformed
