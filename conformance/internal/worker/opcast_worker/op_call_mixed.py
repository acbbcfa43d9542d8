"""Calls by number with arrays of other frameworks beside plain ones."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from opcast_worker.bound import Bound, Probes, Unsupported
from opcast_worker.dlpack import Array


class Mixed(Probes):
    """Probes that turn some of the arguments into arrays of another framework, over the same memory."""

    def probe_torch(self, call: Bound) -> Any:
        """Pass torch tensors among the arrays."""
        return self.mixed(call, "torch", range(len(call.args)))

    def probe_jax(self, call: Bound) -> Any:
        """Pass JAX arrays, which never change, among the arrays that the op only reads."""
        try:
            importlib.import_module("jax").devices()
        except (AssertionError, ImportError, RuntimeError) as error:
            raise Unsupported(f"JAX sees no device: {error}") from None
        inputs = range(len(self.caller.info(call.op).outputs), len(call.args))
        return self.mixed(call, "jax.numpy", [i for i in inputs if i not in call.mutated])

    def mixed(self, call: Bound, module: str, places: Iterable[int]) -> Any:
        """Call with arrays that a framework imports; the results lie in the memory of the plain ones."""
        try:
            imported: Callable[[Any], Any] = importlib.import_module(module).from_dlpack
        except ImportError:
            raise Unsupported(f"{module} is not installed") from None
        args = list(call.args)
        for i in places:
            if isinstance(args[i], Array):
                with contextlib.suppress(BufferError, RuntimeError, TypeError, ValueError):
                    array = imported(args[i])  # unless the framework lacks the dtype
                    if self.same_dtype(array, args[i]):
                        args[i] = array
        if all(a is b for a, b in zip(args, call.args)):
            raise Unsupported(f"{module} has none of the dtypes")
        replace(call, args=args)()
        written = [*range(len(self.caller.info(call.op).outputs)), *call.mutated]
        return [call.args[i] for i in written]

    def same_dtype(self, array: Any, plain: Array) -> bool:
        """Say whether an array kept its dtype: JAX copies 64 bits into 32 unless it is told not to."""
        code, bits = plain.dtype
        return str(array.dtype).rpartition(".")[2] == self.caller.names[code, bits]


create = Mixed
