"""An independent formula."""


def independent(torch, x):
    return torch.nn.functional.relu(x)


def eager(torch, x):
    return torch.relu(x)


def node(onnx_node, x):
    return onnx_node.run("Relu", [x], [x])


def fused(jax, x):
    return jax.nn.relu(x)


def peers(framework):
    torch = {"torch": eager, "onnxruntime": node}
    jax = {"jax.jit": fused}
    return {"torch": torch, "jax": jax}.get(framework)
