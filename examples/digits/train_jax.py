"""Training in JAX: jit over a mesh, which may span several processes, splits each batch."""

from __future__ import annotations

import functools
from typing import Any

import data
import jax
import jax.numpy as jnp
import learning
import numpy as np
import opcast_jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from learning import Job, Outcome
from processes import Worker

_jax: Any = jax  # partly untyped


def train(job: Job, worker: Worker) -> Outcome:
    """Train as one of the processes."""
    _jax.config.update("jax_platforms", "cpu")
    _jax.config.update("jax_num_cpu_devices", job.devices)
    if worker.count > 1:
        _jax.distributed.initialize(f"localhost:{worker.port}", worker.count, worker.rank)
    mesh: Any = _jax.make_mesh(
        (worker.count * job.devices,), ("images",), axis_types=(AxisType.Auto,)
    )
    split = NamedSharding(mesh, PartitionSpec("images"))
    whole = NamedSharding(mesh, PartitionSpec())

    def place(values: Any, sharding: NamedSharding) -> Any:
        return _jax.make_array_from_callback(values.shape, sharding, values.__getitem__)

    w = {name: place(value, whole) for name, value in learning.initial().items()}
    moments = learning.no_moments(w)
    step = _jax.jit(_step, out_shardings=whole, donate_argnums=(0, 1))
    losses: list[float] = []
    for number, batch in enumerate(data.batches(job.steps), start=1):
        images, targets = (place(part, split) for part in batch)
        w, moments, loss = step(w, moments, images, targets, learning.schedule(number, job.steps))
        losses.append(float(loss))
        if worker.rank == 0:
            learning.log(losses)
    weights = {name: np.asarray(value) for name, value in w.items()}
    return Outcome(losses, weights, learning.accuracy(opcast_jax, jnp, weights))


def _step(w: Any, moments: Any, images: Any, targets: Any, scale: Any) -> tuple[Any, Any, Any]:
    loss, slopes = _jax.value_and_grad(functools.partial(learning.loss, opcast_jax, jnp))(
        w, images, targets
    )
    return *learning.adamw(w, slopes, moments, scale), loss
