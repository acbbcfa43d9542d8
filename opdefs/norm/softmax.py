"""An independent formula, and what holds beside the reference."""

import numpy as np


def independent(torch, x):
    return torch.softmax(x, dim=-1)


def properties(x, y):
    finite = np.isfinite(x).all(axis=-1) & (x.shape[-1] > 0)
    bound = 2**-8 * max(1, x.shape[-1])
    assert (abs(y.sum(axis=-1)[finite] - 1) <= bound).all(), "a row does not sum to 1"


def eager(torch, x):
    return torch.softmax(x, -1)


def fused(jax, x):
    return jax.nn.softmax(x)


def node(onnx_node, x):
    return onnx_node.run("Softmax", [x], [x])


def peers(framework):
    torch = {"torch": eager, "onnxruntime": node}
    jax = {"jax.jit": fused}
    return {"torch": torch, "jax": jax}.get(framework)
