"""An independent formula."""


def independent(torch, x, approximate):
    return torch.nn.functional.gelu(x, approximate=approximate)


def eager(torch, x, approximate):
    return torch.nn.functional.gelu(x, approximate=approximate)


def node(onnx_node, x, approximate):
    return onnx_node.run("Gelu", [x], [x], approximate=approximate)


def fused(jax, x, approximate):
    return jax.nn.gelu(x, approximate=approximate == "tanh")


def peers(framework):
    torch = {"torch": eager, "onnxruntime": node}
    jax = {"jax.jit": fused}
    return {"torch": torch, "jax": jax}.get(framework)
