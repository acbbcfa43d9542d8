"""Calls with plans: eager, in one graph of torch.compile and in one trace of jax.jit."""

import importlib
import os
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import numpy as np
import torch

in_torch, in_jax = (importlib.import_module(f"inference_{name}") for name in ("torch", "jax"))
_torch: Any = torch
_jax: Any = jax

B, N, H, D, PIECES = 3, 50, 2, 8, 4
rng = np.random.default_rng(0)
k, v = (_torch.from_numpy(rng.standard_normal((N, H, D), np.float32)) for _ in range(2))


def want(q: Any, indptr: Any) -> Any:
    """Return the attention by PyTorch's own function, sequence by sequence."""
    made = torch.zeros(B, H, D)
    for b in range(B):
        rows = slice(int(indptr[b]), int(indptr[b + 1]))
        if rows.stop > rows.start:
            parts = [x.transpose(0, 1)[None] for x in (q[b : b + 1], k[rows], v[rows])]
            made[b] = _torch.nn.functional.scaled_dot_product_attention(*parts)[0, :, 0]
    return made


def step(q: Any, plan: Any) -> Any:
    """Decode one step with a plan."""
    return in_torch.decode_run(q, k, v, *plan, pieces=PIECES)[0]


graphs: list[Any] = []
traces: list[Any] = []


def counted(graph: Any, _: Any) -> Any:
    """Note what torch.compile makes."""
    graphs.append(graph)
    return graph.forward


def traced(q: Any, plan: Any) -> Any:
    """Note what jax.jit traces."""
    traces.append(q)
    return in_jax.decode_run(q, k.numpy(), v.numpy(), *plan, pieces=PIECES)[0]


compiled, jitted = torch.compile(step, backend=counted, fullgraph=True), _jax.jit(traced)
for middle in ([31, 31], [0, 7], [0, N], [1, 2], [N, N]):
    indptr = torch.tensor([0, *middle, N], dtype=torch.int32)
    plan = in_torch.decode_plan(indptr, keys=N, pieces=PIECES)
    shared = tuple(_jax.numpy.asarray(x.numpy()) for x in plan)
    q = _torch.from_numpy(rng.standard_normal((B, H, D), np.float32))
    made = [
        step(q, plan),
        compiled(q, plan),
        _torch.from_numpy(np.array(jitted(q.numpy(), shared))),
    ]
    print(*(torch.allclose(y, want(q, indptr), atol=1e-6) for y in made))
print(len(graphs), "graph,", len(traces), "trace")
for ends, pieces in (([0, 3, N], PIECES), ([0, 3, 4, N], PIECES + 1)):
    other = torch.tensor(ends, dtype=torch.int32)
    try:
        step(k[:B], in_torch.decode_plan(other, keys=N, pieces=pieces))
    except ValueError as error:
        print(error)
