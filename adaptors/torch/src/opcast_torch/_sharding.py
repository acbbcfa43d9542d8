"""DTensor: which ways to shard the arguments of an op give which ways to shard its results.

The rules follow from the definition. Along a parallel dim, shards of the inputs give shards of the
outputs. Along a dim that an output sums over, they give parts of that sum. All other dims are
gathered first. torch.distributed.tensor is slow to import, so rules are registered once it is there.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ._collection import backend
from ._state import constant

if TYPE_CHECKING:
    from collections.abc import Sequence

_waiting: list[Any] = []


def register(overload: Any) -> None:
    """Give an op its rule, now or when DTensor is imported."""
    _waiting.append(overload)
    ready()


@constant
def ready() -> bool:
    """Register the rules that wait for DTensor, if it has been imported."""
    module: Any = sys.modules.get("torch.distributed.tensor")
    if not _waiting or not hasattr(module, "DTensor"):
        return True
    experimental: Any = __import__("torch.distributed.tensor.experimental", fromlist=["*"])
    _take_no_returns()
    while _waiting:
        overload = _waiting.pop()
        experimental.register_sharding(overload.call)(_rule(overload, module))
        if overload.overwritten:
            _stay(overload, module)
    return True


def _take_no_returns() -> None:
    """Have DTensor ask ops that return nothing for their first return only if there is one.

    Those are the ones that overwrite arguments. PyTorch 2.10 raises IndexError for all of them, later
    versions look first.
    """
    module = sys.modules.get("torch.distributed.tensor._op_schema")
    schema: Any = getattr(module, "OpSchema", None)
    original: Any = getattr(schema, "return_type_tensor", None)
    if original is None:
        return  # a later version that asks in another way

    def has_tensor(self: Any) -> bool:
        return bool(self.op._schema.returns) and original(self)

    nothing: Any = SimpleNamespace(op=SimpleNamespace(_schema=SimpleNamespace(returns=())))
    try:
        original(nothing)
    except IndexError:
        schema.return_type_tensor = has_tensor


def _rule(overload: Any, tensor: Any) -> Any:
    """Return the function that lists the ways to shard a call."""
    info = overload.info
    count = len(info.inputs)
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
        given = {a.name for a, x in zip(info.inputs, inputs) if x is not None}
        outs = [
            _expand(a.dims, lead, ranks) if _present(a, given) else None for a in overload.outputs
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


def _present(a: Any, given: set[str]) -> bool:
    return not a.present_if or a.present_if in given


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


def _stay(overload: Any, tensor: Any) -> None:
    """Keep overwritten arguments where they are: of a redistributed one, a copy would change."""
    info = overload.info
    rules = tensor.DTensor._op_dispatcher.sharding_propagator.op_strategy_funcs
    strategy = rules[overload.call]

    def staying(schema: Any) -> Any:
        found = strategy(schema)
        tensors = [i for i, a in enumerate(schema.args_schema) if hasattr(a, "strategies")]
        for i in (i for i in overload.overwritten if i in tensors):
            here = schema.args_schema[i].strategies[0].output_spec.placements
            place = tensors.index(i)
            left = [s for s in found.strategies if s.input_specs[place].placements == here]
            if not left:
                want = "placements that can be overwritten shard by shard, together with the others"
                raise NotImplementedError(
                    f"{info.name}: {info.inputs[i].name}: expected {want}, got {here}"
                )
            found.strategies[:] = left
        return found

    rules[overload.call] = staying
