"""Gradients of an op, through its gradient op.

The tangents of an op's results are a linear function of those of its inputs that has a transpose, the
gradient op, but no value: there is no kernel for it. It is a primitive of its own, so that it may
stand in any traced program, and says what is missing as soon as something asks for its value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from ._arrays import respec, spec_of, unify
from ._collection import NAMESPACE
from ._sharding import sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._call import Call
    from ._collection import backend

    Arrays = tuple[Any, ...]
    Transpose = Callable[[Arrays, Arrays], Arrays]

_jax: Any = jax  # partly untyped
_Named: Any = NamedSharding
_Spec: Any = PartitionSpec
_ad: Any = ad
_batching: Any = batching
_mlir: Any = mlir


@dataclass(frozen=True, eq=False)
class _Linear:
    """A linear function without a value.

    Parameters
    ----------
    types
        Types of its results.
    known
        Number of leading arguments in which it is not linear.
    transpose
        Takes these arguments and the cotangents of the results; returns those of the others.
    refusal
        What to say when its value is wanted.

    """

    types: Arrays
    known: int
    transpose: Transpose
    refusal: str

    def __repr__(self) -> str:
        return self.refusal.partition(":")[0]


_linear: Any = Primitive(f"{NAMESPACE}_tangents")
_linear.multiple_results = True


def _types(*_: Any, of: _Linear) -> list[Any]:
    return list(of.types)


def _refuse(*_: Any, of: _Linear) -> Any:
    raise NotImplementedError(of.refusal)


def _transpose(cotangents: Any, *args: Any, of: _Linear) -> Any:
    dense = tuple(_ad.instantiate_zeros(c) for c in cotangents)
    found = of.transpose(args[: of.known], dense)
    typed = [
        respec(c, x.aval.sharding.spec) if _ad.is_undefined_primal(x) else None
        for c, x in zip(found, args[of.known :])
    ]
    return [None] * of.known + typed


def _batch(args: Any, dims: Any, *, of: _Linear) -> Any:
    """Map the function over axis 0 of all results; the transpose is the mapped transpose."""
    size, lead = next((x.shape[d], spec_of(x)[d]) for x, d in zip(args, dims) if d is not None)

    def transpose(values: Arrays, cotangents: Arrays) -> Arrays:
        mapped = _jax.vmap(of.transpose, in_axes=(tuple(dims[: of.known]), 0), axis_size=size)
        return tuple(map(_unmap, mapped(values, cotangents), dims[of.known :]))

    types = tuple(_mapped(t, size, lead) for t in of.types)
    mapped = _Linear(types, of.known, transpose, of.refusal)
    return _linear.bind(*args, of=mapped), [0] * len(types)


def _unmap(cotangent: Any, dim: int | None) -> Any:
    return cotangent.sum(0) if dim is None else _jax.numpy.moveaxis(cotangent, 0, dim)


def _mapped(kind: Any, size: Any, lead: Any) -> Any:
    """Return the type with one more leading dim."""
    sharding = _Named(kind.sharding.mesh, _Spec(lead, *kind.sharding.spec))
    return kind.update(shape=(size, *kind.shape), sharding=sharding)


_linear.def_abstract_eval(_types)
_linear.def_impl(_refuse)
_mlir.register_lowering(_linear, _refuse)
_ad.primitive_jvps[_linear] = _refuse
_ad.primitive_transposes[_linear] = _transpose
_batching.primitive_batchers[_linear] = _batch


def differentiable(call: Call, gradient: Callable[[Call], Call]) -> Callable[..., Any]:
    """Return the op as a function that has derivatives, or that says what is missing.

    Parameters
    ----------
    call
        The call.
    gradient
        Gives the call of the gradient op that belongs to a call.

    """
    op = _jax.custom_jvp(sharded(call))

    def derivative(primals: Arrays, tangents: Arrays) -> Any:
        if not call.info.backward and not call.info.gradient_of:
            text = "no gradient is defined: apply jax.lax.stop_gradient to the inputs"
            raise NotImplementedError(f"{call.info.name}: {text}")
        full = call.with_saved()
        results = differentiable(full, gradient)(*primals)
        moved = _moved(call, tangents)
        if call.info.gradient_of:
            found = _refused(call.info, moved, results)
        else:
            found = _through(full, gradient, (primals, moved, results))
        kept = len(call.results)
        return results[:kept], tuple(found[:kept])

    op.defjvp(derivative, symbolic_zeros=True)
    return op


def _moved(call: Call, tangents: Arrays) -> dict[str, Any]:
    """Return the tangents that are not zero, by input."""
    pairs = zip(call.inputs, tangents)
    return {a.name: t for a, t in pairs if type(t) is not SymbolicZero and _is_inexact(t)}


def _is_inexact(value: Any) -> bool:
    return _jax.numpy.issubdtype(value.dtype, np.inexact)


def _refused(back: backend.Op, moved: dict[str, Any], results: Arrays) -> list[Any]:
    """Return tangents of what only a second derivative needs: it may be that nobody wants one."""
    text = f"{back.name}: no gradient is defined: {back.gradient_of} has a first derivative only"

    def transpose(*_: Any) -> Any:
        raise NotImplementedError(text)

    return _tangents(_Linear((), 0, transpose, text), (), moved, results)


def _through(call: Call, gradient: Callable[[Call], Call], at: tuple[Any, ...]) -> list[Any]:
    """Return the tangents of the results, whose cotangents go through the gradient op."""
    primals, moved, results = at
    back = gradient(call)
    named = dict(zip([a.name for a in call.outputs], results))
    values = {a.name: x for a, x in zip(call.inputs, primals)} | named
    returned = [a.name for a in call.outputs if not a.saved]
    smooth = [f"grad_{name}" for name in returned if _is_inexact(named[name])]
    known = [a.name for a in back.inputs if a.name not in smooth]
    moved = {name: t for name, t in moved.items() if f"grad_{name}" in back.info.results}

    def transpose(values: Arrays, cotangents: Arrays) -> Arrays:
        given = dict(zip(known, values)) | dict(zip(smooth, cotangents))
        arrays = unify(tuple(given[a.name] for a in back.inputs))
        grads = zip(back.results, differentiable(back, gradient)(*arrays))
        by_name = {a.name: x for a, x in grads}
        return tuple(by_name[f"grad_{name}"] for name in moved)

    text = f"{call.info.name}: no forward-mode derivative is defined: use reverse mode"
    linear = _Linear((), len(known), transpose, text)
    found = _tangents(linear, tuple(values[n] for n in known), moved, results[: len(returned)])
    return found + _refused(back.info, moved, results[len(returned) :])


def _tangents(of: _Linear, known: Arrays, moved: dict[str, Any], results: Arrays) -> list[Any]:
    """Return the tangents of results as the linear function of those of the inputs."""
    types = tuple(_jax.typeof(x) for x in results if _is_inexact(x))
    if not types or not moved:
        return [_zeros(x) for x in results]
    found = iter(_linear.bind(*known, *moved.values(), of=replace(of, types=types)))
    return [next(found) if _is_inexact(x) else _zeros(x) for x in results]


def _zeros(result: Any) -> Any:
    return SymbolicZero(_jax.typeof(result).to_tangent_aval())
