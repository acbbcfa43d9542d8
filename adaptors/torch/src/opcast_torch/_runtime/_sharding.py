"""DTensor: which ways to shard the arguments of an op give which ways to shard its results.

The rules follow from the definition. Along a parallel dim, shards of the inputs give shards of the
outputs. Along a dim that an output sums over, they give parts of that sum. All other dims are
gathered first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .._collection import backend
from ._framework import FRAMEWORK
from ._imports import when
from ._library import LIBRARY

_registry: Any = torch.library


def register(overload: Any) -> None:
    """Give an op its rule, now or when DTensor is imported."""

    def tell(module: Any) -> None:
        experimental: Any = __import__("torch.distributed.tensor.experimental", fromlist=["*"])
        rule = _rule(overload, module)
        for call in (overload.call, overload.compiled):
            if call is None:
                continue
            if overload.overwritten:
                run = _overwriting(overload, rule, module.DTensor)
                _registry.register_torch_dispatch(call.name(), module.DTensor, run, lib=LIBRARY)
            else:
                experimental.register_sharding(call)(rule)

    when("torch.distributed.tensor", "DTensor", tell)


def _rule(overload: Any, tensor: Any) -> Any:
    """Return the function that lists the ways to shard a call."""
    info = overload.info
    count, absent = len(info.inputs), info.absent()
    whole = tensor.Replicate()

    def sharding(*args: Any) -> Any:
        inputs = args[:count]
        full: tuple[int, ...] = _all_leading(info, inputs)
        lead = len(full)
        ranks = backend.own_ranks(info.inputs, [None if x is None else x.ndim for x in inputs])
        ins: list[Any] = [
            None if x is None else _expand(a.dims, lead, ranks, _own(a, x, full))
            for a, x in zip(info.inputs, inputs)
        ]
        outs = [
            None if gone else _expand(a.dims, lead, ranks)
            for a, gone in zip(overload.outputs, absent(args))
        ]
        attrs = [None] * len(info.attrs)
        ways: list[Any] = [
            ([whole for _ in outs], [None if i is None else whole for i in ins] + attrs)
        ]
        sums = _expand(info.sums, lead, {})
        for dim in dict.fromkeys((*_expand(info.parallel, lead, {}), *sums)):
            part = tensor.Partial("sum") if dim in sums else whole
            written = [whole if o is None else _placed(tensor, o, dim, part) for o in outs]
            kept = [ins[i] for i in overload.overwritten]
            # A summand cannot be overwritten; what does not depend on the dim is the same everywhere.
            if all(dims is None or dim in dims or dim not in sums for dims in kept):
                read = [None if i is None else _placed(tensor, i, dim, whole) for i in ins]
                ways.append((written, read + attrs))
        return ways

    return sharding


def _all_leading(info: Any, inputs: Sequence[Any]) -> tuple[int, ...]:
    """Return the leading dims of a call."""
    given = [(a, x) for a, x in zip(info.inputs, inputs) if x is not None]
    same = [_leading(a, x) for a, x in given if "*" in a.dims]
    wide = [_leading(a, x) for a, x in given if "..." in a.dims]
    return same[0] if same else backend.leading((), *wide)


def _leading(a: Any, x: Any) -> tuple[int, ...]:
    """Return the leading dims of an input."""
    return tuple(x.shape[: x.ndim - len(a.dims) + 1])


def _own(a: Any, x: Any, full: tuple[int, ...]) -> list[str]:
    """Return the names of the leading dims of an input; one that is broadcast has none."""
    shape = _leading(a, x) if "..." in a.dims else full
    start = len(full) - len(shape)
    return [f"*{i}" if n == full[i] else "" for i, n in enumerate(shape, start)]


def _expand(
    dims: Sequence[str], lead: int, ranks: dict[str, int], own: list[str] | None = None
) -> list[str]:
    """Return the dims with a name for each of the leading ones: all there are, or those given.

    ranks says how many there are of those that an array of a list has for itself.
    """
    names: list[str] = []
    every = [f"*{i}" for i in range(lead)] if own is None else own
    for dim in dims:
        here = [f"{dim}.{i}" for i in range(ranks[dim])] if dim in ranks else [dim]
        names += every if dim in {"*", "..."} else here
    return names


def _placed(tensor: Any, dims: Sequence[str], dim: str, otherwise: Any) -> Any:
    return tensor.Shard(dims.index(dim)) if dim in dims else otherwise


def _overwriting(overload: Any, rule: Any, dtensor: Any) -> Any:
    """Return the function that DTensor calls for an op that overwrites arguments.

    These stay where they are: of a redistributed one, a copy would change. The rules of other ops
    cannot say that.
    """
    info, count = overload.info, len(overload.info.inputs)

    def run(_cls: Any, call: Any, _types: Any, args: Any, _named: Any) -> Any:
        inputs = args[:count]
        for a, x in zip(info.inputs, inputs):
            if x is not None and not isinstance(x, dtensor):
                expected = "a DTensor, as another argument is one"
                raise TypeError(
                    f"{info.name}: {a.name}: expected {expected}, got {type(x).__name__}"
                )
        mesh = inputs[0].device_mesh
        every = rule(*args)
        ways = [_cheapest(overload, every, inputs, m) for m in range(mesh.ndim)]
        with torch.no_grad():
            local = [
                x if x is None else x.redistribute(mesh, [w[1][i] for w in ways]).to_local()
                for i, x in enumerate(inputs)
            ]
            made = backend.as_tuple(call(*local, *args[count:])) or ()
            specs, _ = overload.check(FRAMEWORK, *args)
            whole = [
                _joined(dtensor, y, mesh, [w[0][k] for w in ways], spec)
                for k, (y, spec) in enumerate(zip(made, specs))
            ]
        return tuple(whole) if len(whole) > 1 else whole[0] if whole else None

    return run


def _cheapest(overload: Any, ways: Any, inputs: Any, m: int) -> Any:
    """Return the way along a dim of the mesh that leaves what is overwritten and moves least."""
    here = [None if x is None else x.placements[m] for x in inputs]
    fits = list(ways)
    for i in overload.overwritten:
        fits = [w for w in fits if w[1][i] == here[i]]
        if not fits:
            want = "placements that can be overwritten shard by shard, together with the others"
            name = f"{overload.info.name}: {overload.info.inputs[i].name}"
            raise NotImplementedError(f"{name}: expected {want}, got {inputs[i].placements}")
    return min(fits, key=lambda w: sum(to != at for to, at in zip(w[1], here)))


def _joined(dtensor: Any, local: Any, mesh: Any, placements: list[Any], spec: Any) -> Any:
    """Return a result of which each process has a part."""
    if spec is None:  # an empty tensor stands for it
        return local
    shape = torch.Size(spec[0])
    stride = torch.empty(shape, device="meta").stride()
    return dtensor.from_local(local, mesh, placements, run_check=False, shape=shape, stride=stride)
