"""An independent formula."""


def independent(torch, x, weight, eps):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)


def eager(torch, x, weight, eps):
    return torch.nn.functional.rms_norm(x, weight.shape, weight.to(x.dtype), eps)


def fused(jax, x, weight, eps):
    wide = x.astype("float32")
    scale = jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + eps)
    return (wide * scale * weight.astype("float32")).astype(x.dtype)


def node(onnx_node, x, weight, eps):
    return onnx_node.run("RMSNormalization", [x, weight], [x], epsilon=eps)


def kernel(vllm_kernels, x, weight, eps):
    return vllm_kernels.rms_norm(x, weight, eps)


def peers(framework):
    torch = {"torch": eager, "onnxruntime": node, "vllm": kernel}
    jax = {"jax.jit": fused}
    return {"torch": torch, "jax": jax}.get(framework)
