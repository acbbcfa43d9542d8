"""Evaluates the definitions' references in float64: the oracle, and the only place to run text."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from caller import memory
from numpy_caller import NDArray, strided

if TYPE_CHECKING:
    from collections.abc import Callable

    from bound import Answer, Request


class Reference:
    """Answers what an op should give."""

    def __init__(self) -> None:
        """Start with no compiled reference."""
        self.functions: dict[str, Callable[..., Any]] = {}

    def greeting(self) -> Request:
        """Say who is here."""
        return {"version": np.__version__}

    def reference(self, request: Request, blobs: list[bytes]) -> Answer:
        """Evaluate a reference on the given arguments."""
        arguments: Request = {}
        buffers = [bytearray(b) for b in blobs]
        for name in request["order"]:
            ((kind, value),) = request["arguments"][name].items()
            if kind == "array":
                array = strided(value, memory(value, buffers))
                arguments[name] = widen(array, request["precision"])
            else:
                arguments[name] = float(value) if kind == "float" else value
        try:
            function = self.function(request)
            wanted = inspect.signature(function).parameters
            with np.errstate(all="ignore"):
                result: Any = function(**{k: v for k, v in arguments.items() if k in wanted})
        except Exception as error:  # the author's text may raise anything
            return {"error": f"{type(error).__name__}: {error}", "outputs": []}, []
        results = result if isinstance(result, tuple) else (result,)  # pyright: ignore[reportUnknownVariableType]
        arrays = [np.asarray(r, np.float64) for r in results]  # pyright: ignore[reportUnknownVariableType]
        return {"error": "", "outputs": [{"shape": a.shape} for a in arrays]}, [
            a.tobytes() for a in arrays
        ]

    def function(self, request: Request) -> Callable[..., Any]:
        """Compile the body, or the module, of a reference."""
        key = text = request["text"]
        if key not in self.functions:
            if not request["module"]:
                body = textwrap.indent(text.strip("\n"), "    ")
                text = f"def reference({', '.join(request['order'])}):\n{body}\n"
            scope: Request = {"xp": np, "np": np}
            exec(compile(text, request["file"], "exec"), scope)
            self.functions[key] = scope["reference"]
        return self.functions[key]


def widen(array: NDArray, precision: str) -> NDArray:
    """Return floating-point numbers in the precision of the evaluation; integers stay."""
    return array if array.dtype.kind in "iub" else array.astype(precision)


def create(config: Request) -> Reference:
    """Return the oracle; it needs nothing from the configuration."""
    del config
    return Reference()
