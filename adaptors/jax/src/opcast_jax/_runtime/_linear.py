"""The tangents of an op's results as a linear function of those of its inputs.

Its transpose is the gradient op, its value comes from the op of tangents. It is a primitive of its own, so
that it may stand in any traced program, and says what is missing as soon as something asks for what the
definition does not name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
from jax.extend.core import Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from .._collection import NAMESPACE
from ._arrays import respec, spec_of

if TYPE_CHECKING:
    Arrays = tuple[Any, ...]
    Part = Callable[[Arrays, Arrays], Arrays]

_jax: Any = jax  # partly untyped
_Named: Any = NamedSharding
_Spec: Any = PartitionSpec
_ad: Any = ad
_function: Any = jaxpr_as_fun
_batching: Any = batching
_mlir: Any = mlir


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear function."""

    types: Arrays
    """Types of its results."""
    known: int
    """Number of leading arguments in which it is not linear."""
    value: Part | Refusal
    """Takes these arguments and the others; returns the results. Or it says why there are none."""
    transpose: Part | Refusal
    """Takes these arguments and the cotangents of the results; returns those of the others."""

    def __repr__(self) -> str:
        return str(self.value) if isinstance(self.value, Refusal) else "tangents"

    def run(self, *args: Any) -> list[Any]:
        """Return the results, of the types that were promised."""
        made = self.value(args[: self.known], args[self.known :])
        return [respec(x, t.sharding.spec) for x, t in zip(made, self.types)]


@dataclass(frozen=True)
class Refusal:
    """What stands in the place of a function that the definition does not name."""

    text: str

    def __str__(self) -> str:
        return self.text.partition(":")[0]

    def __call__(self, *_: Any) -> Any:
        raise NotImplementedError(self.text)


_linear: Any = Primitive(f"{NAMESPACE}_tangents")
_linear.multiple_results = True


def call(of: Linear, *args: Any) -> list[Any]:
    """Call a linear function.

    Its program is a parameter of the primitive: there JAX looks for what needs to know the devices.
    """
    program = None if isinstance(of.value, Refusal) else _jax.make_jaxpr(of.run)(*args)
    return _linear.bind(*args, of=of, program=program)


def _types(*_: Any, of: Linear, program: Any) -> list[Any]:
    return list(of.types)


def _value(*args: Any, of: Linear, program: Any) -> list[Any]:
    return of.run(*args) if program is None else _function(program)(*args)


def _derivative(args: Arrays, tangents: Arrays, *, of: Linear, program: Any) -> Any:
    """Differentiate: along the arguments in which it is linear, it is its own derivative."""
    if isinstance(of.value, Refusal):
        of.value()
    same = partial(_linear.bind, of=of, program=program)
    dense = tuple(_ad.instantiate_zeros(t) for t in tangents)
    if all(type(t) is _ad.Zero for t in tangents[: of.known]):
        moved = args[: of.known] + dense[of.known :]
        return same(*args), same(*moved)
    return _jax.jvp(_function(program), args, dense)


def _transpose(cotangents: Any, *args: Any, of: Linear, program: Any) -> Any:
    dense = tuple(_ad.instantiate_zeros(c) for c in cotangents)
    found = of.transpose(args[: of.known], dense)
    typed = [
        respec(c, x.aval.sharding.spec) if _ad.is_undefined_primal(x) else None
        for c, x in zip(found, args[of.known :])
    ]
    return [None] * of.known + typed


def _batch(args: Any, dims: Any, *, of: Linear, program: Any) -> Any:
    """Map the function over axis 0 of all results; the transpose is the mapped transpose."""
    size, lead = next((x.shape[d], spec_of(x)[d]) for x, d in zip(args, dims) if d is not None)
    over = tuple(dims[: of.known]), tuple(dims[of.known :])

    def transpose(values: Arrays, cotangents: Arrays) -> Arrays:
        mapped = _jax.vmap(of.transpose, in_axes=(over[0], 0), axis_size=size)
        return tuple(map(_unmap, mapped(values, cotangents), over[1]))

    types = tuple(_mapped(t, size, lead) for t in of.types)
    value = of.value
    if not isinstance(value, Refusal):
        value = _jax.vmap(value, in_axes=over, axis_size=size)
    mapped = Linear(types, of.known, value, transpose)
    return call(mapped, *args), [0] * len(types)


def _unmap(cotangent: Any, dim: int | None) -> Any:
    return cotangent.sum(0) if dim is None else _jax.numpy.moveaxis(cotangent, 0, dim)


def _mapped(kind: Any, size: Any, lead: Any) -> Any:
    """Return the type with one more leading dim."""
    sharding = _Named(kind.sharding.mesh, _Spec(lead, *kind.sharding.spec))
    return kind.update(shape=(size, *kind.shape), sharding=sharding)


_linear.def_abstract_eval(_types)
_linear.def_impl(_value)
_mlir.register_lowering(_linear, _mlir.lower_fun(_value, multiple_results=True))
_ad.primitive_jvps[_linear] = _derivative
_ad.primitive_transposes[_linear] = _transpose
_batching.primitive_batchers[_linear] = _batch
