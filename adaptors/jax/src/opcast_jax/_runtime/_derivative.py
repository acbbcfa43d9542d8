"""Derivatives of an op, through the ops that its definition names for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.custom_derivatives import SymbolicZero

from .._collection import backend
from . import _linear
from ._arrays import unify
from ._linear import Linear, Refusal
from ._sharding import sharded

if TYPE_CHECKING:
    from ._call import Call

    Arrays = tuple[Any, ...]
    Derive = Callable[[Call, str], Call]

_jax: Any = jax  # partly untyped


def differentiable(call: Call, derive: Derive) -> Callable[..., Any]:
    """Return the op as a function that has derivatives, or that says what is missing.

    ``derive`` gives the call of the op with a name, which computes a derivative, that belongs to a call.
    """
    op = _jax.custom_jvp(sharded(call))

    def derivative(primals: Arrays, tangents: Arrays) -> Any:
        info = call.info
        if not info.backward and not info.forward and not info.derived_from:
            raise NotImplementedError(_no_gradient(info))
        full = call.with_saved()
        results = differentiable(full, derive)(*primals)
        moved = _moved(call, tangents)
        if info.backward or info.forward:
            found = _through(full, derive, (primals, moved, results))
        else:
            found = _refused(info, moved, results)
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


_STOP = "apply jax.lax.stop_gradient to the inputs"


def _place(info: backend.Op, name: str) -> str:
    return f"{info.name}: {name}" if name else info.name


def _no_gradient(info: backend.Op, name: str = "") -> str:
    if info.gradient_of:
        text = f"{info.gradient_of} has a first derivative only"
    elif info.tangent_of:
        text = f"the tangents of {info.tangent_of} have none"
    else:
        text = _STOP
    return f"{_place(info, name)}: no gradient is defined: {text}"


def _no_tangent(info: backend.Op, name: str = "") -> str:
    advice = _STOP
    if not name:
        more = ", or name an op of tangents in its definition" if info.derived_from else ""
        advice = f"use reverse mode{more}"
    return f"{_place(info, name)}: no forward-mode derivative is defined: {advice}"


def _refused(info: backend.Op, moved: dict[str, Any], results: Arrays) -> list[Any]:
    """Return tangents of what only a further derivative needs: it may be that nobody wants one."""
    no = Refusal(_no_gradient(info))
    return _tangents(Linear((), 0, no, no), (), moved, results)


def _through(call: Call, derive: Derive, at: tuple[Any, ...]) -> list[Any]:
    """Return the tangents of the results, by the ops that the definition names."""
    primals, moved, results = at
    ways = _Ways(call, derive, {a.name: _jax.typeof(x) for a, x in zip(call.inputs, primals)})
    named = dict(zip([a.name for a in call.outputs], results))
    values = {a.name: x for a, x in zip(call.inputs, primals)} | named
    returned = [a.name for a in call.outputs if not a.saved]
    smooth = [name for name in returned if _is_inexact(named[name])]
    known = ways.known(smooth)
    function = Linear(
        (),
        len(known),
        ways.value(known, tuple(moved), smooth),
        ways.transpose(known, tuple(moved), smooth),
    )
    found = _tangents(function, tuple(values[n] for n in known), moved, results[: len(returned)])
    if ways.back is None:
        return found
    return found + _refused(ways.back.info, moved, results[len(returned) :])


class _Ways:
    """The calls that compute derivatives of a call; the types are those of the inputs, by name."""

    def __init__(self, call: Call, derive: Derive, types: dict[str, Any]) -> None:
        info = self._info = call.info
        self._derive, self._types = derive, types
        self._args = {a.name: a for a in call.inputs}
        self.back = derive(call, info.backward) if info.backward else None
        self._ahead = derive(call, info.forward) if info.forward else None

    def _moving(self, name: str) -> str:
        return self._info.tangent_prefix + name

    def known(self, smooth: list[str]) -> tuple[str, ...]:
        """Return the names of the inputs and outputs of the op from which derivatives are computed.

        An input may be called like the tangent of another, which only the op of tangents gets.
        """
        grads = {self._info.grad_prefix + name for name in smooth}
        tangents = {self._moving(name) for name in self._types}
        used = [
            a.name
            for call, arriving in ((self.back, grads), (self._ahead, tangents))
            if call
            for a in call.inputs
            if a.name not in arriving
        ]
        return tuple(dict.fromkeys(used))

    def value(self, known: tuple[str, ...], moved: tuple[str, ...], smooth: list[str]) -> Any:
        """Return the function from tangents of some inputs to those of the results."""
        ahead, without = self._ahead, self._without(moved)
        if ahead is None or without:
            return Refusal(_no_tangent(self._info, without if ahead else ""))

        def value(values: Arrays, tangents: Arrays) -> Arrays:
            given = {self._moving(name): _zero(t) for name, t in self._types.items()}
            given |= dict(zip(map(self._moving, moved), tangents)) | dict(zip(known, values))
            by_name = self._call(ahead, given)
            return tuple(by_name[self._moving(name)] for name in smooth)

        return value

    def transpose(self, known: tuple[str, ...], moved: tuple[str, ...], smooth: list[str]) -> Any:
        """Return the function from cotangents of the results to those of some inputs."""
        back, without = self.back, self._without(moved)
        if back is None or without:
            return Refusal(_no_gradient(self._info, without if back else ""))
        prefix = self._info.grad_prefix
        smooth = [prefix + name for name in smooth]

        def transpose(values: Arrays, cotangents: Arrays) -> Arrays:
            given = dict(zip(known, values)) | dict(zip(smooth, map(_conjugate, cotangents)))
            by_name = self._call(back, given)
            return tuple(_conjugate(self._summed(name, by_name[prefix + name])) for name in moved)

        return transpose

    def _without(self, moved: tuple[str, ...]) -> str:
        """Return the name of an input that moves although there is no derivative by it; empty if none does."""
        return next((name for name in moved if name in self._info.no_grad), "")

    def _summed(self, name: str, grad: Any) -> Any:
        """Return the gradient by an input, summed along the dims that the input was broadcast to.

        JAX adds up numbers of 16 bits in float32.
        """
        arg, shape = self._args[name], self._types[name].shape
        axes = (
            backend.spread_axes(shape, len(arg.dims) - 1, grad.shape) if "..." in arg.dims else ()
        )
        if not axes:
            return grad
        total = _jax.numpy.sum(grad, axis=axes, keepdims=True)
        return _jax.lax.squeeze(total, tuple(range(grad.ndim - len(shape))))

    def _call(self, call: Call, given: dict[str, Any]) -> dict[str, Any]:
        arrays = unify(tuple(given[a.name] for a in call.inputs))
        results = differentiable(call, self._derive)(*arrays)
        return {a.name: x for a, x in zip(call.results, results)}


def _conjugate(x: Any) -> Any:
    """Return the conjugates of complex numbers: gradients by z = x + iy are by x minus i by y in JAX, plus in definitions."""
    return x.conj() if x.dtype.kind == "c" else x


def _zero(kind: Any) -> Any:
    return _jax.numpy.zeros(kind.shape, kind.dtype)


def _tangents(of: Linear, known: Arrays, moved: dict[str, Any], results: Arrays) -> list[Any]:
    """Return the tangents of results as the linear function of those of the inputs."""
    types = tuple(_jax.typeof(x) for x in results if _is_inexact(x))
    if not types or not moved:
        return [_zeros(x) for x in results]
    found = iter(_linear.call(replace(of, types=types), *known, *moved.values()))
    return [next(found) if _is_inexact(x) else _zeros(x) for x in results]


def _zeros(result: Any) -> Any:
    return SymbolicZero(_jax.typeof(result).to_tangent_aval())
