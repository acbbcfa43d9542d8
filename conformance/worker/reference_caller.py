"""Evaluates the definitions' references in float64: the oracle, and the only place to run text."""

from __future__ import annotations

import copy
import inspect
import textwrap
from functools import partial
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
        self.functions: dict[tuple[str, ...], Callable[..., Any]] = {}

    def greeting(self) -> Request:
        """Say who is here."""
        return {"version": np.__version__}

    def reference(self, request: Request, blobs: list[bytes]) -> Answer:
        """Evaluate a reference on the given arguments."""
        try:
            results = self.evaluation(request)(self.arguments(request, blobs))
        except Exception as error:  # the author's text may raise anything
            return {"error": f"{type(error).__name__}: {error}", "outputs": []}, []
        described: list[Request] = []
        answer: list[bytes] = []
        for r in results:
            array = np.asarray([] if r is None else r, np.float64)
            described.append({"shape": array.shape, "absent": r is None})
            answer.append(array.tobytes())
        return {"error": "", "outputs": described}, answer

    def differences(self, request: Request, blobs: list[bytes]) -> Answer:
        """Differentiate the sum of the products of results and cotangents.

        Central differences with one step and with twice the step combine to one of order four; their distance
        tells kinks. Answers values and distances for each wanted input.
        """
        buffers = [bytearray(b) for b in blobs]
        weights = [
            strided(v["array"], memory(v["array"], buffers)) if "array" in v else None
            for v in request["cotangents"]
        ]
        answer: list[bytes] = []
        try:
            evaluate = self.evaluation(request)
            arguments = self.arguments(request, blobs)

            def rise(name: str, low: NDArray, high: NDArray) -> float:
                # Element by element before the sum: what did not change adds no rounding error.
                ends = [evaluate(copy.deepcopy({**arguments, name: end})) for end in (low, high)]
                triples = [(a, b, w) for a, b, w in zip(*ends, weights) if w is not None]
                return sum(float(np.sum((np.asarray(b) - a) * w)) for a, b, w in triples)

            for name in request["inputs"]:
                answer += slopes(partial(rise, name), arguments[name])
        except Exception as error:  # the author's text may raise anything
            return {"error": f"{type(error).__name__}: {error}"}, []
        return {"error": ""}, answer

    def arguments(self, request: Request, blobs: list[bytes]) -> Request:
        """Return the arguments of a reference by name."""
        arguments: Request = {}
        buffers = [bytearray(b) for b in blobs]
        for name in request["order"]:
            ((kind, value),) = request["arguments"][name].items()
            if kind == "array":
                array = strided(value, memory(value, buffers))
                arguments[name] = widen(array, request["precision"])
            else:
                arguments[name] = float(value) if kind == "float" else value
        return arguments

    def evaluation(self, request: Request) -> Callable[[Request], tuple[Any, ...]]:
        """Return a function from arguments by name to results."""
        function = self.function(request)
        wanted = inspect.signature(function).parameters

        def evaluate(arguments: Request) -> tuple[Any, ...]:
            with np.errstate(all="ignore"):
                result: Any = function(**{k: v for k, v in arguments.items() if k in wanted})
            return result if isinstance(result, tuple) else (result,)  # pyright: ignore[reportUnknownVariableType]

        return evaluate

    def function(self, request: Request) -> Callable[..., Any]:
        """Compile the body, or the module, of a reference."""
        text, key = request["text"], (request["text"], *request["order"])
        if key not in self.functions:
            if not request["module"]:
                body = textwrap.indent(text.strip("\n"), "    ")
                text = f"def reference({', '.join(request['order'])}):\n{body}\n"
            scope: Request = {"xp": np, "np": np}
            exec(compile(text, request["file"], "exec"), scope)
            self.functions[key] = scope["reference"]
        return self.functions[key]


STEP = 2e-4
"""Of differences: at it, the errors of rounding and of leaving out higher derivatives are about equal."""


def slopes(rise: Callable[[NDArray, NDArray], float], at: NDArray) -> list[bytes]:
    """Return the gradient of a function and the distance between coarse and fine differences.

    rise tells by how much the function rises from one array to another.
    """
    values, spread = np.zeros(at.shape), np.zeros(at.shape)
    for index in np.ndindex(at.shape):
        fine, coarse = (difference(rise, at, index, step) for step in (STEP, 2 * STEP))
        values[index] = (4 * fine - coarse) / 3
        spread[index] = abs(fine - coarse)
    return [values.tobytes(), spread.tobytes()]


def difference(
    rise: Callable[[NDArray, NDArray], float], at: NDArray, index: tuple[int, ...], step: float
) -> float:
    """Return the central difference of a function with respect to one element."""
    low, high = at.copy(), at.copy()
    low[index] -= step
    high[index] += step
    return rise(low, high) / float(high[index] - low[index])


def widen(array: NDArray, precision: str) -> NDArray:
    """Return floating-point numbers in the precision of the evaluation; integers stay."""
    return array if array.dtype.kind in "iub" else array.astype(precision)


def create(config: Request) -> Reference:
    """Return the oracle; it needs nothing from the configuration."""
    del config
    return Reference()
