"""What the generated ops of the PaddlePaddle adaptor share: their calls.

Calls are eager. A tensor goes to the kernel as it is: tvm-ffi reads it through the functions that
PaddlePaddle has for that, which also tell the current stream of a GPU.
"""

# pyright: basic
from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import paddle
from paddle import Tensor

from .._collection import backend
from ._autograd import Node, refusal, wanted
from ._framework import FRAMEWORK, GPU, dense, empty, refuse_layout

if TYPE_CHECKING:
    from collections.abc import Callable

REQUIRED: Any = None

_ops: dict[str, Op] = {}


def publish(function: Callable[..., Any], required: int) -> None:
    """Show a generated function as ``backend.publish`` does; programs call it as it is, and it refuses their variables."""
    backend.publish(function, required)
    paddle.jit.not_to_static(function)


class Op:
    """One op: its kernel and its calls.

    Parameters
    ----------
    name
        Name of the op.
    schema
        Schema hash of the definition from which the caller was generated.

    """

    def __init__(self, name: str, schema: int) -> None:
        self.info = backend.ops()[name]
        self.check: Callable[..., Any] = getattr(backend.checks, name)
        self._run: Callable[..., Any] = backend.faithful(backend.function(name, schema))
        self._takes_scratch = {kind: self.info.takes_scratch(kind) for kind in ("cpu", GPU)}
        self._node: Any = None
        if self.info.backward or self.info.derived_from:
            self._node = Node(self.info, self._compute, self._differentiate)
        _ops[name] = self

    def single(self, counts: tuple[int, ...]) -> Op:
        """Return the form for single arrays, of an op whose lists have so many."""
        one = copy(self)
        one.info = backend.single(self.info, counts)
        one.check = backend.checker(self.check, self.info, one.info)
        return one

    def call(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...], out: Any = None) -> Any:
        """Call the op, after its checks."""
        if self.info.lists:
            return backend.call_lists(self, FRAMEWORK, inputs, attrs)
        given = backend.as_tuple(out)
        specs, values = self._judged(inputs, attrs, given)
        if wanted(inputs):
            if out is not None:
                raise NotImplementedError(
                    f"{self.info.name}: no gradient is defined where out is given:"
                    " call it under paddle.no_grad() or detach the inputs"
                )
            if self._node is None or self.info.lengths:
                raise refusal(self.info)
            made = self._node(inputs, attrs)
        else:
            made = self._launch(inputs, specs, values, given)
        if out is not None:
            return out
        outs = [y for y, a in zip(made, self.info.outputs) if not a.saved]
        results = *outs, *[x for x, a in zip(inputs, self.info.inputs) if a.mutated]
        return results[0] if len(results) == 1 else results

    def _judged(self, inputs: Any, attrs: Any, given: Any) -> tuple[Any, Any]:
        """Check the arguments; return shapes and dtypes of the outputs and scratch, and the attributes."""
        outputs = [a for a in self.info.outputs if not a.saved]
        for a, x in zip((*self.info.inputs, *outputs), (*inputs, *(given or ()))):
            if isinstance(x, Tensor):
                refuse_layout(self.info.name, a.name, x)
        specs, values = self.check(FRAMEWORK, *inputs, *attrs, given)
        backend.refuse_device(self.info, FRAMEWORK.device(inputs[0]))
        return specs, values

    def _launch(
        self, inputs: Any, specs: Any, values: Any, given: Any, saving: bool = False
    ) -> list[Any]:
        """Run the kernel; return all outputs, None for those that are saved unless they are wanted."""
        info, like = self.info, inputs[0]
        made, scratch = specs[: len(info.outputs)], specs[len(info.outputs) :]
        kind = "cpu" if like.place.is_cpu_place() else GPU
        if not self._takes_scratch[kind]:
            scratch = [None for _ in scratch]
        try:
            if given:
                rest = iter(given)
                outs = [None if a.saved else next(rest) for a in info.outputs]
            else:
                needed = [s if saving or not a.saved else None for s, a in zip(made, info.outputs)]
                outs = empty(info.name, like, needed)
            work = empty(info.name, like, scratch)  # freed in the order of the stream
            arrays = [
                x if x is None or a.mutated else dense(x, a.stride)
                for x, a in zip(inputs, info.inputs)
            ]
        except (MemoryError, OverflowError, ValueError) as error:  # the latter two for absurd sizes
            raise MemoryError(f"{info.name}: out of memory") from error
        written = given or [x for x, a in zip(inputs, info.inputs) if a.mutated]
        try:
            self._run(*info.lengths, *outs, *arrays, *values, *work)
        finally:
            for x in written:  # the kernel may have begun
                if x is not None:
                    x._bump_inplace_version()  # noqa: SLF001 - there is no public name
        return outs

    def _compute(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Compute all outputs, those that only the gradient needs too."""
        specs, values = self.check(FRAMEWORK, *inputs, *attrs, None)
        return tuple(self._launch(inputs, specs, values, None, saving=True))

    def _differentiate(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        return _ops[self.info.backward].call(inputs, attrs)
