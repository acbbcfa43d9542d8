"""DTensor: which ways to shard the arguments of an op give which ways to shard its results.

The rules follow from the definition. Along a parallel dim, shards of the inputs give shards of the
outputs. Along a dim that an output sums over, they give parts of that sum. All other dims are
gathered first. torch.distributed.tensor is slow to import, so rules are registered once it is there.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

_waiting: list[Any] = []


def register(overload: Any) -> None:
    """Give an op its rule, now or when DTensor is imported."""
    _waiting.append(overload)
    ready()


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


_compiler: Any = torch.compiler
ready_for_compiler: Any = _compiler.assume_constant_result(ready)


def _rule(overload: Any, tensor: Any) -> Any:
    """Return the function that lists the ways to shard a call."""
    info = overload.info
    count = len(info.inputs)
    whole = tensor.Replicate()

    def sharding(*args: Any) -> Any:
        inputs = args[:count]
        lead = next((x.ndim - len(a.dims) + 1 for a, x in _having_lead(info, inputs)), 0)
        ins = [None if x is None else _expand(a.dims, lead) for a, x in zip(info.inputs, inputs)]
        given = {a.name for a, x in zip(info.inputs, inputs) if x is not None}
        outs = [_expand(a.dims, lead) if _present(a, given) else None for a in overload.outputs]
        attrs = [None] * len(info.attrs)
        ways: list[Any] = [
            ([whole for _ in outs], [None if i is None else whole for i in ins] + attrs)
        ]
        sums = _expand(info.sums, lead)
        for dim in dict.fromkeys((*_expand(info.parallel, lead), *sums)):
            part = tensor.Partial("sum") if dim in sums else None
            written = [whole if o is None else _placed(tensor, o, dim, part) for o in outs]
            changed = all(dim in (ins[i] or ()) for i in overload.overwritten)
            if changed and None not in written:
                read = [None if i is None else _placed(tensor, i, dim, whole) for i in ins]
                ways.append((written, read + attrs))
        return ways

    return sharding


def _having_lead(info: Any, inputs: Sequence[Any]) -> Any:
    return ((a, x) for a, x in zip(info.inputs, inputs) if x is not None and "*" in a.dims)


def _present(a: Any, given: set[str]) -> bool:
    return not a.present_if or a.present_if in given


def _expand(dims: Sequence[str], lead: int) -> list[str]:
    """Return the dims with a name for each of the leading ones."""
    names: list[str] = []
    for dim in dims:
        names += [f"*{i}" for i in range(lead)] if dim == "*" else [dim]
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
        for i in overload.overwritten:
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
