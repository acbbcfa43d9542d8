"""One way to call an op, as JAX's transformations hand it on, and the XLA custom call below them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ._arrays import framework, unify, varying

if TYPE_CHECKING:
    from .._collection import backend

_jax: Any = jax  # partly untyped

# Attributes of a custom call. With optional inputs: bit i says that input i is given. With saved
# outputs: whether they are wanted. With lists: how many arrays each has.
_PRESENT = "_present"
_SAVED = "_saved"
_LENGTHS = "_lengths"


@dataclass(frozen=True, eq=False)
class Call:
    """What is fixed while a call is traced: all but its arrays."""

    info: backend.Op
    """What the collection says about the op."""
    check: Callable[..., Any]
    """The op's rules."""
    target: str
    """Name of the op's XLA target."""
    present: tuple[bool, ...]
    """For each input, whether it is given."""
    attrs: tuple[Any, ...]
    """Normalised attributes."""
    saved: bool = False
    """Whether the outputs for the gradient are wanted."""

    @cached_property
    def inputs(self) -> tuple[backend.Arg, ...]:
        """The inputs that are given: the parameters of the traced function."""
        return tuple(a for a, given in zip(self.info.inputs, self.present) if given)

    @cached_property
    def outputs(self) -> tuple[backend.Arg, ...]:
        """The outputs that this call has."""
        return tuple(self.info.outputs[i] for i in self._numbers)

    @cached_property
    def results(self) -> tuple[backend.Arg, ...]:
        """What the traced function returns: the outputs, then the mutated inputs."""
        return (*self.outputs, *(a for a in self.inputs if a.mutated))

    @cached_property
    def _numbers(self) -> tuple[int, ...]:
        absent = self.info.absent()([*(given or None for given in self.present), *self.attrs])
        return tuple(
            i
            for i, a in enumerate(self.info.outputs)
            if (self.saved or not a.saved) and not absent[i]
        )

    def with_saved(self) -> Call:
        """Return the call that also computes what the gradient needs."""
        return replace(self, saved=any(a.saved for a in self.info.outputs))

    def spread(self, arrays: tuple[Any, ...]) -> list[Any]:
        """Return one entry per declared input, None where it is not given."""
        rest = iter(arrays)
        return [next(rest) if given else None for given in self.present]

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Call the op on arrays that no transformation sees."""
        with_scratch, without = partial(self._run, True), partial(self._run, False)
        if not self.info.scratch or self.info.takes_scratch("cpu"):
            return with_scratch(*arrays)
        # Nobody knows the platform yet, and memory costs time.
        return _jax.lax.platform_dependent(*arrays, cpu=without, default=with_scratch)

    def _run(self, with_scratch: bool, *arrays: Any) -> tuple[Any, ...]:
        specs, values = self.check(framework, *self.spread(arrays), *self.attrs)
        outputs = [_struct(*specs[i]) for i in self._numbers]
        mutated = [i for i, a in enumerate(self.inputs) if a.mutated]
        results = outputs + [_struct(arrays[i].shape, arrays[i].dtype) for i in mutated]
        scratch = [_struct(*s) for s in specs[len(self.info.outputs) :] if with_scratch]
        call = _jax.ffi.ffi_call(
            self.target,
            results + scratch,
            vmap_method="sequential",
            input_output_aliases={i: len(outputs) + n for n, i in enumerate(mutated)},
        )
        made = call(*arrays, **self._fields(values))[: len(results)]
        # Inside a shard_map, the results of a custom call count as equal everywhere.
        return unify(tuple(made), varying(*arrays))

    def _fields(self, values: tuple[Any, ...]) -> dict[str, Any]:
        names = [a.name for a in self.info.attrs if a.type != "dtype"]
        fields = {name: _attribute(v) for name, v in zip(names, values) if v is not None}
        if any(a.optional for a in self.info.inputs):
            fields[_PRESENT] = np.int64(self._given())
        if any(a.saved for a in self.info.outputs):
            fields[_SAVED] = self.saved
        if self.info.lengths:
            fields[_LENGTHS] = np.asarray(self.info.lengths, np.int64)
        return fields

    def _given(self) -> int:
        """Return a number whose bit i says whether input i of the definition is given, a list as a whole."""
        present: dict[str, bool] = {}
        for a, given in zip(self.info.inputs, self.present):
            present[a.name.partition("[")[0]] = given
        return sum(1 << i for i, given in enumerate(present.values()) if given)


def _struct(shape: tuple[int, ...], dtype: Any) -> Any:
    return _jax.ShapeDtypeStruct(shape, _jax.numpy.dtype(dtype))


def _attribute(value: Any) -> Any:
    """Return a value whose NumPy type tells XLA the type that the handler expects."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, tuple):
        return np.asarray(value, np.int64)
    return np.int64(value) if isinstance(value, int) else np.float64(value)
