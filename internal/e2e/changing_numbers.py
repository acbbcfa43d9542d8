"""Call an op with numbers that change: a compiled program serves all of them, and eager calls make no arrays.

With a folder as an argument, a program that is compiled ahead of time is among them.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import opcast_jax
import opcast_numpy
import opcast_torch
import torch

_torch: Any = torch
_jax: Any = jax
VALUES = [(3, 0), (3, 1), (4, 1), (-5, 2**40), (2**62, 7)]
X = np.arange(1, 65, dtype=np.float32)
WANT = [opcast_numpy.dropout(X, *(np.array(v) for v in value)) for value in VALUES]
x: Any = _torch.from_numpy(X)


def tensors(value: tuple[int, int]) -> list[Any]:
    """Return both numbers as tensors."""
    return [torch.tensor(v) for v in value]


def plain(value: tuple[int, int]) -> tuple[int, int]:
    """Return both numbers as they are."""
    return value


def equal(what: str, call: Callable[..., Any], give: Callable[[tuple[int, int]], Any]) -> None:
    """Compare the results for all values."""
    for value, want in zip(VALUES, WANT):
        got = call(*give(value))
        assert np.array_equal(np.asarray(got), want), (what, value)


def refuse(*_: Any, **__: Any) -> Any:
    """Make no array."""
    raise AssertionError("an eager call has made an array")


def eager() -> None:
    """Numbers go to the library as they are."""
    full, asarray, array = torch.full, np.asarray, np.array
    _torch.full = np.asarray = np.array = refuse
    try:
        made = [opcast_torch.dropout(x, *value) for value in VALUES]
        also = [opcast_numpy.dropout(X, *value) for value in VALUES]
    finally:
        _torch.full, np.asarray, np.array = full, asarray, array
    for one, other, want in zip(made, also, WANT):
        assert np.array_equal(one.numpy(), want)
        assert np.array_equal(other, want)
    leaf: Any = x.clone().requires_grad_()
    y: Any = opcast_torch.dropout(leaf, *VALUES[0])
    y.sum().backward()
    assert leaf.grad is not None and np.array_equal(leaf.grad.numpy() * X, WANT[0])


def graphs(**options: Any) -> Callable[..., int]:
    """Return how many graphs torch.compile makes for all values."""

    def count(give: Callable[[tuple[int, int]], Any]) -> int:
        made: list[Any] = []

        def backend(graph: Any, _: Any) -> Any:
            made.append(graph)
            return graph.forward

        _torch._dynamo.reset()
        compiled = _torch.compile(opcast_torch.dropout, backend=backend, fullgraph=True, **options)
        equal("compile", lambda *seed: compiled(x, *seed), give)
        return len(made)

    return count


class Dropped(torch.nn.Module):
    """The op as a module, for export."""

    def forward(self, x: Any, seed: Any, offset: Any) -> Any:
        """Call it."""
        return opcast_torch.dropout(x, seed, offset)


def refused(call: Callable[..., Any], args: tuple[Any, ...], text: str) -> None:
    """Expect an error of ours."""
    try:
        call(*args)
    except (TypeError, ValueError) as error:
        assert str(error) == text, error
    else:
        raise AssertionError(text)


eager()
compiled: Any = _torch.compile(opcast_torch.dropout, backend="eager", dynamic=True)
compiled(x, 3, 0)
refused(compiled, (x, 3.5, 0), "dropout: seed: expected int, got float")
lists = [[_torch.ones(3)], [_torch.ones(3)], [_torch.ones(3)], [_torch.ones(3)]]
refused(opcast_torch.adamw, (*lists, -1, 1), "adamw: lr: expected at least 0, got -1")
refused(
    _torch.compile(opcast_torch.adamw, backend="eager"),
    (*lists, 0.1, 0),
    "adamw: step: expected at least 1, got 0",
)
adamw: Any = opcast_torch.adamw
adamw(*[[one.to("meta") for one in each] for each in lists], 0.1, 1)
assert graphs()(tensors) == 1
assert graphs(dynamic=True)(plain) == 1
assert graphs()(plain) == 3  # each of the two is a constant until it changes
exported = _torch.export.export(Dropped(), (x, *tensors(VALUES[0])))
equal("export", lambda *seed: exported.module()(x, *seed), tensors)
if len(sys.argv) > 1:  # a compiler for C++ takes a while
    package = str(Path(sys.argv[1], "dropped.pt2"))
    _torch._inductor.aoti_compile_and_package(exported, package_path=package)
    loaded = _torch._inductor.aoti_load_package(package)
    equal("AOTInductor", lambda *seed: loaded(x, *seed), tensors)

_jax.config.update("jax_enable_x64", True)
traces: list[int] = []


@_jax.jit
def jitted(seed: Any, offset: Any) -> Any:
    """Call the op in a program that counts its traces."""
    traces.append(1)
    return opcast_jax.dropout(X, seed, offset)


equal("jit", jitted, plain)
assert len(traces) == 1
for mixed in ((_jax.numpy.int32(3), 1), (3, _jax.numpy.int32(1))):
    assert np.array_equal(jitted(*mixed), WANT[1])
seeds, offsets = (_jax.numpy.array(column) for column in zip(*VALUES))
mapped = _jax.vmap(jitted)(seeds, offsets)
assert np.array_equal(mapped, np.stack(WANT))
every = _torch.vmap(opcast_torch.dropout, (None, 0, None))(x, torch.tensor([3, 4]), 1)
assert np.array_equal(every.numpy(), np.stack(WANT[1:3]))
print("one program for all")
