"""What the generated ops of the PaddlePaddle adaptor share: their calls.

Calls are eager. A tensor goes to the kernel as it is: tvm-ffi reads it through the functions that
PaddlePaddle has for that, which also tell the current stream of a GPU.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import paddle
from paddle import Tensor

from .._collection import backend
from ._autograd import Node, refusal, wanted
from ._framework import DTYPES, FRAMEWORK, empty, readable, refuse_layout

REQUIRED: Any = None

_ops: dict[str, Op] = {}


def publish(function: Callable[..., Any], required: int) -> None:
    """Show a generated function as ``backend.publish`` does; programs call it as it is, and it refuses their variables."""
    backend.publish(function, required)
    paddle.jit.not_to_static(function)


class Op(backend.EagerOp):
    """One op: its kernel and its calls."""

    framework = FRAMEWORK

    def __init__(self, name: str, schema: int) -> None:
        super().__init__(name, schema)
        self._node: Any = None
        if self.info.backward or self.info.derived_from:
            self._node = Node(self.info, self._compute, self._differentiate)
        _ops[name] = self

    def judged(self, inputs: Any, attrs: Any, given: Any) -> Any:
        """Check the arguments, first how their elements lie."""
        outputs = [a for a in self.info.outputs if not a.saved]
        for a, x in zip((*self.info.inputs, *outputs), (*inputs, *(given or ()))):
            if isinstance(x, Tensor):
                refuse_layout(self.info.name, a.name, x)
        return super().judged(inputs, attrs, given)

    def allocate(self, specs: Iterable[Any], like: Any) -> list[Any]:
        """Return new tensors of these shapes and dtypes where another is, None for absent ones."""
        return empty(self.info.name, like, specs)

    def launch(self, inputs: Any, attrs: Any, given: Any, specs: Any, values: Any) -> Any:
        """Run the kernel, as a node of the graph of gradients if one may be asked for."""
        if not wanted(inputs):
            return self._launch(inputs, given, specs, values)
        if given is not None:
            raise NotImplementedError(
                f"{self.info.name}: no gradient is defined where out is given:"
                " call it under paddle.no_grad() or detach the inputs"
            )
        if self._node is None or self.info.lengths:
            raise refusal(self.info)
        like = inputs[0]  # a node keeps tensors only
        filled = backend.stand_ins(
            self.info,
            FRAMEWORK,
            inputs,
            lambda value, dtype: paddle.full([], value, DTYPES[dtype], device=like.place),
        )
        return self._node(filled, attrs)

    def _launch(
        self, inputs: Any, given: Any, specs: Any, values: Any, saving: bool = False
    ) -> list[Any]:
        """Run the kernel; return all outputs, None for those that are saved unless they are wanted."""
        info, like = self.info, inputs[0]
        try:
            outs = self.outputs(given, specs, like, saving)
            work = self.scratch(specs, like)  # freed in the order of the stream
            arrays = [
                x if not isinstance(x, Tensor) or a.mutated else readable(x, a)
                for x, a in zip(inputs, info.inputs)
            ]
        except (MemoryError, OverflowError, ValueError) as error:  # the latter two for absurd sizes
            raise MemoryError(f"{info.name}: out of memory") from error
        written = given or [x for x, a in zip(inputs, info.inputs) if a.mutated]
        try:
            self.run(*info.lengths, *outs, *arrays, *values, *work)
        finally:
            for x in written:  # the kernel may have begun
                if x is not None:
                    x._bump_inplace_version()  # noqa: SLF001 - there is no public name
        return outs

    def _compute(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Compute all outputs, those that only the gradient needs too."""
        specs, values = self.check(FRAMEWORK, *inputs, *attrs, None)
        return tuple(self._launch(inputs, None, specs, values, saving=True))

    def _differentiate(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        return _ops[self.info.backward].call(inputs, attrs)
