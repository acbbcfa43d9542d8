"""Training in JAX: on one device, or on a mesh whose axes split batches and, as Megatron does, layers.

Of the weights of a layer, a device has those of its heads and of its part of the inner columns. What its
outputs contribute to the stream is added up over the axis "tensor".
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import network
import numpy as np
import opcast_jax as ops
import train
from checkpoint import Config, Values
from jax.sharding import NamedSharding, PartitionSpec

_jax: Any = jax  # partly untyped
_jnp: Any = jax.numpy

Weights = dict[str, Any]

ROWS, COLUMNS = PartitionSpec("tensor"), PartitionSpec(None, "tensor")
SPLIT = {"q": ROWS, "k": ROWS, "v": ROWS, "gate": ROWS, "up": ROWS, "o": COLUMNS, "down": COLUMNS}
BATCH, WHOLE = PartitionSpec("data"), PartitionSpec()


def run(
    config: Config, weights: dict[str, Values], batches: train.Batches, shape: tuple[int, int]
) -> Iterator[train.Step]:
    """Train, step by step."""
    _jax.config.update("jax_platforms", "cpu")
    _jax.config.update("jax_num_cpu_devices", shape[0] * shape[1])
    mesh = _jax.make_mesh(shape, ("data", "tensor"))
    places = {name: _place(name) for name in weights}
    w = {n: _jax.device_put(value, NamedSharding(mesh, places[n])) for n, value in weights.items()}
    moments = tuple({name: _jnp.zeros_like(value) for name, value in w.items()} for _ in range(2))
    step = _jax.jit(_step(config, mesh, places), donate_argnums=(0, 1))
    for number, (rate, ids, following) in enumerate(batches, start=1):
        batch = (_jax.device_put(part, NamedSharding(mesh, BATCH)) for part in (ids, following))
        w, moments, loss, squares = step(w, moments, *batch, (np.float32(rate), np.int32(number)))
        yield train.Step(float(loss), float(squares) ** 0.5, w)


def _place(name: str) -> PartitionSpec:
    """Return how a weight is split."""
    *_, kind, _ = name.split(".")
    return SPLIT.get(kind.removesuffix("_proj"), WHOLE)


def _step(config: Config, mesh: Any, places: dict[str, PartitionSpec]) -> Callable[..., Any]:
    """Return a function that makes a step on the mesh."""
    on_mesh = functools.partial(_jax.shard_map, mesh=mesh, check_vma=False)
    loss = on_mesh(
        functools.partial(_loss, config), in_specs=(places, BATCH, BATCH), out_specs=WHOLE
    )
    state = (places, (places, places))
    move = on_mesh(_adamw, in_specs=(*state, places, WHOLE), out_specs=state)

    def step(w: Weights, moments: Any, ids: Any, following: Any, scale: Any) -> Any:
        value, gradients = _jax.value_and_grad(loss)(w, ids, following)
        squares = sum((gradient**2).sum() for gradient in gradients.values())
        return *move(w, moments, gradients, scale), value, squares

    return step


def _loss(config: Config, w: Weights, ids: Any, following: Any) -> Any:
    """Return the mean loss of all devices' sequences; each calls this with its part of everything."""
    starts, positions = (_jnp.asarray(make(len(ids))) for make in (train.starts, train.positions))
    rotation = positions, _jnp.asarray(config.angles())

    def attend(q: Any, k: Any, v: Any) -> Any:
        return ops.flash_attn_varlen(q, k, v, starts, starts, causal=True)[0]

    def total(part: Any) -> Any:
        return _jax.lax.psum(part, "tensor")

    def block(layer: int, x: Any) -> Any:
        weights = network.of_layer(w, layer)
        return network.block(ops, _jnp, weights, config, x, rotation, attend, total)

    x = network.hidden(ops, w, config, ids.reshape(-1), block)
    return _jax.lax.pmean(train.loss(ops, w, x, following.reshape(-1)), ("data", "tensor"))


def _adamw(w: Weights, moments: Any, gradients: Weights, scale: Any) -> Any:
    """Return the weights and moments after a step; one call of the op moves all of a kind."""
    new_w: Weights = {}
    new_moments: tuple[Weights, Weights] = ({}, {})
    for decays in (False, True):  # matrices decay, vectors do not
        names = [name for name, value in w.items() if (value.ndim == 2) == decays]
        old: Any = ([of[name] for name in names] for of in (w, gradients, *moments))
        decay = train.DECAY if decays else 0.0
        new: Any = ops.adamw(*old, *scale, beta2=train.BETA2, weight_decay=decay)
        for of, values in zip((new_w, *new_moments), new, strict=True):
            of.update(zip(names, values, strict=True))
    return new_w, new_moments
