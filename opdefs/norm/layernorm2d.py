"""An independent formula."""


def independent(torch, x, weight, bias, eps):
    variance, mean = torch.var_mean(x, dim=-1, correction=0)
    y = torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)
    return y, mean, (variance + eps).rsqrt()


def eager(torch, x, weight, bias, eps):
    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)


def node(onnx_node, x, weight, bias, eps):
    return onnx_node.run("LayerNormalization", [x, weight, bias], [x], epsilon=eps)


def fused(jax, x, weight, bias, eps):
    wide = x.astype("float32")
    centred = wide - wide.mean(-1, keepdims=True)
    y = centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + eps)
    return (y * weight + bias).astype(x.dtype)


def peers(framework):
    torch = {"torch": eager, "onnxruntime": node}
    jax = {"jax.jit": fused}
    return {"torch": torch, "jax": jax}.get(framework)
