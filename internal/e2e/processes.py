"""Train one step of a small model with JAX ops, as one of several processes, and print what came of it as JSON.

The arguments are JSON: ``devices`` of this process, ``processes`` in all, ``rank`` of this one, ``address`` of the first
one, and ``cache``, the folder of the persistent compilation cache.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np

config: dict[str, Any] = json.loads(sys.argv[1])
jax: Any = importlib.import_module("jax")
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", config["devices"])
if config["cache"]:
    jax.config.update("jax_compilation_cache_dir", config["cache"])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
if config["processes"] > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(config["address"], config["processes"], config["rank"])

ops: Any = importlib.import_module("opcast_jax")
events: dict[str, int] = {}


def heard(event: str, **_: Any) -> None:
    """Count what JAX tells about its cache."""
    name = event.rsplit("/", 1)[-1]
    events[name] = events.get(name, 0) + 1


jax.monitoring.register_event_listener(heard)
mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(jax.sharding.AxisType.Auto,))


def place(values: Any, *axes: Any) -> Any:
    """Return an array of all processes from the values that each of them knows."""
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))

    def part(index: Any) -> Any:
        return values[index]

    return jax.make_array_from_callback(values.shape, sharding, part)


def loss(weight: Any, matrix: Any, x: Any) -> Any:
    """Return a number and the outputs behind it."""
    hidden = ops.rms_norm(x, weight)
    y = ops.gemm(ops.gelu(hidden, approximate="tanh"), matrix)
    return (y * y).mean(), y


rng = np.random.default_rng(0)
x = place(rng.standard_normal((16, 12)).astype("float32"), "data")
weight = place(rng.standard_normal(12).astype("float32"))
matrix = place(rng.standard_normal((5, 12)).astype("float32"))
step = jax.jit(jax.value_and_grad(loss, (0, 1), has_aux=True))
before = dict(events)
program = step.lower(weight, matrix, x).compile()
looked = {
    name: events.get(name, 0) - before.get(name, 0) for name in ("cache_hits", "cache_misses")
}
(value, y), gradients = program(weight, matrix, x)
everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
print(
    json.dumps(
        {
            "devices": jax.device_count(),
            "loss": float(value),
            "outputs": np.asarray(jax.device_put(y, everywhere)).ravel().tolist(),
            "gradients": [np.asarray(g).ravel().tolist() for g in gradients],
            "gathers": program.as_text().count(" all-gather("),
            "hits": looked["cache_hits"],
            "misses": looked["cache_misses"],
        }
    )
)
