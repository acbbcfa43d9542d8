"""An op on arrays that are spread over a mesh of devices.

Every dim is a factor, as Shardy calls it. A parallel one may be sharded: each device calls the op on
its part. So may one over which outputs are sums: the parts are added. All others are gathered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from .._collection import backend
from ._arrays import respec
from ._batching import batched

if TYPE_CHECKING:
    from ._call import Call

_jax: Any = jax  # partly untyped
_Spec: Any = PartitionSpec
_Named: Any = NamedSharding
_AXIS: Any = _jax.sharding.AxisType


def sharded(call: Call) -> Callable[..., Any]:
    """Return the op for arrays of any sharding, with its rule for ``vmap``."""

    def op(*arrays: Any) -> Any:
        mesh, kinds = _mesh(arrays)
        if _AXIS.Explicit in kinds and _AXIS.Manual not in kinds:
            return batched(call, partial(_explicit, call, mesh))(*arrays)
        if kinds == {_AXIS.Manual}:  # in a shard_map: the arrays are parts already
            return batched(call, call.run)(*arrays)
        return batched(call, _automatic(call))(*arrays)

    op.__name__ = op.__qualname__ = call.info.name
    return op


def _mesh(arrays: tuple[Any, ...]) -> tuple[Any, set[Any]]:
    """Return the mesh that the types of the arrays name, and the kinds of its axes."""
    meshes = [_jax.typeof(a).sharding.mesh for a in arrays]
    mesh = next((m for m in meshes if not m.empty), None)
    return mesh, set() if mesh is None else set(mesh.axis_types)


def _automatic(call: Call) -> Callable[..., Any]:
    """Return the op for the mesh axes whose shardings XLA chooses."""
    op: Any = custom_partitioning(call.run)

    def partition(mesh: Any, args: Any, results: Any) -> Any:
        specs = [getattr(a.sharding, "spec", ()) for a in args]
        plan = Plan(call, [a.shape for a in args], specs, mesh.shape)
        named = partial(_Named, mesh)
        body = partial(_summed, call, plan.sums)
        # XLA may have sharded factors that need replication: the plan says what holds.
        return mesh, body, tuple(map(named, plan.outputs)), tuple(map(named, plan.inputs))

    def rule(mesh: Any, args: Any, results: Any) -> Any:
        return Factors(call, [a.shape for a in args]).rule()

    op.def_partition(partition, sharding_rule=rule)
    return op


def _explicit(call: Call, mesh: Any, *arrays: Any) -> Any:
    """Call the op on arrays whose types say how they are sharded."""
    specs = [_jax.typeof(a).sharding.spec for a in arrays]
    plan = Plan(call, [a.shape for a in arrays], specs, mesh.shape)
    parts = [respec(a, spec) for a, spec in zip(arrays, plan.inputs)]
    body = _jax.shard_map(
        partial(_summed, call, plan.sums),
        mesh=mesh,
        in_specs=tuple(plan.inputs),
        out_specs=tuple(plan.outputs),
        check_vma=False,
    )
    return body(*parts)


def _summed(call: Call, sums: Sequence[tuple[str, ...]], *parts: Any) -> Any:
    """Call the op on one device's parts and add up what is a sum over devices."""
    results = call.run(*parts)
    return tuple(_jax.lax.psum(x, axes) if axes else x for x, axes in zip(results, sums))


_LEADING = {"*", "..."}  # the names of leading dims


def _leading(arg: backend.Arg, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the leading dims of an array."""
    return tuple(shape[: len(shape) - len(arg.dims) + 1]) if _LEADING & {*arg.dims} else ()


class Factors:
    """The dims of a call's arrays as factors; the shapes are those of its inputs."""

    def __init__(self, call: Call, shapes: Sequence[Any]) -> None:
        self._numbers: dict[str, int] = {}
        own = [_leading(a, shape) for a, shape in zip(call.inputs, shapes)]
        full = backend.leading((), *own)
        self._batch = [f"*{i}" for i in range(len(full))]
        self._ranks = backend.own_ranks(call.inputs, [len(shape) for shape in shapes])
        self.inputs = [self._expand(a, self._names(d, full)) for a, d in zip(call.inputs, own)]
        self.outputs = [self._expand(a, self._batch) for a in call.results]
        self.parallel = self._known(call.info.parallel)
        self.sums = self._known(call.info.sums)

    def _names(self, own: tuple[int, ...], full: tuple[int, ...]) -> list[str]:
        """Return the names of an input's leading dims; one that is broadcast is a factor of its own."""
        start = len(full) - len(own)
        wide = zip(self._batch[start:], own, full[start:])
        return [name if n == m else f"{name}#{len(self._numbers)}" for name, n, m in wide]

    def _expand(self, arg: backend.Arg, leading: list[str]) -> list[int]:
        names: list[str] = []
        for dim in arg.dims:
            # An expression is a factor of its own: its parts do not belong to parts of its symbols. So is a
            # dim that stands twice in an array, the second time: Shardy takes a factor once.
            once = dim.isidentifier() and dim not in names
            own = dim if once else f"{dim}#{len(self._numbers)}.{len(names)}"
            here = [f"{own}.{i}" for i in range(self._ranks.get(dim, 0))]
            names += leading if dim in _LEADING else here if dim in self._ranks else [own]
        return [self._numbers.setdefault(name, len(self._numbers)) for name in names]

    def _known(self, dims: tuple[str, ...]) -> set[int]:
        names = [n for d in dims for n in (self._batch if d in _LEADING else [d])]
        return {self._numbers[n] for n in names if n in self._numbers}

    def rule(self) -> tuple[str, dict[str, Any]]:
        """Return the rule as Shardy takes it: dims by letters, and the roles of some."""

        def text(args: list[list[int]]) -> str:
            return ", ".join(" ".join(f"f{i}" for i in factors) for factors in args)

        kept = {i for factors in self.outputs for i in factors}
        whole = set(self._numbers.values()) - self.parallel - self.sums
        roles = {
            "need_replication_factors": tuple(f"f{i}" for i in sorted(whole)),
            "reduction_factors": tuple(f"f{i}" for i in sorted(self.sums - kept)),
        }
        return f"{text(self.inputs)} -> {text(self.outputs)}", roles


class Plan:
    """Which mesh axes, of these sizes, the dims of a call are sharded over: those of its inputs that it can keep."""

    def __init__(self, call: Call, shapes: Sequence[Any], specs: Sequence[Any], sizes: Any) -> None:
        factors = Factors(call, shapes)
        self._axes: dict[int, tuple[str, ...]] = {}
        self._sizes = sizes
        for dims, shape, spec in zip(factors.inputs, shapes, specs):
            for factor, length, entry in zip(dims, shape, spec):
                if factor in factors.parallel | factors.sums:
                    self._keep(factor, length, entry)
        self.inputs = [self._spec(dims) for dims in factors.inputs]
        self.outputs = [self._spec(dims) for dims in factors.outputs]
        self.sums = [
            tuple(a for f in sorted(factors.sums - set(dims)) for a in self._axes.get(f, ()))
            for dims in factors.outputs
        ]

    def _keep(self, factor: int, length: int, entry: Any) -> None:
        axes: tuple[str, ...] = (entry,) if isinstance(entry, str) else entry or ()
        taken = {a for other in self._axes.values() for a in other}
        even = length % math.prod(self._sizes[a] for a in axes) == 0
        if axes and factor not in self._axes and even and not taken & set(axes):
            self._axes[factor] = axes

    def _spec(self, dims: list[int]) -> Any:
        return _Spec(*[self._axes.get(i) for i in dims])
