"""An independent formula."""


def independent(torch, x, residual, weight, eps):
    total = x + residual
    return torch.nn.functional.rms_norm(total, x.shape[-1:], weight, eps), total


def eager(torch, x, residual, weight, eps):
    total = x + residual
    return torch.nn.functional.rms_norm(total, weight.shape, weight.to(x.dtype), eps), total


def node(onnx_node, x, residual, weight, eps):
    kind = "SkipSimplifiedLayerNormalization"
    return onnx_node.run(kind, [x, residual, weight], [x, x], epsilon=eps)


def kernel(vllm_kernels, x, residual, weight, eps):
    return vllm_kernels.fused_add_rms_norm(x, residual, weight, eps)


def fused(jax, x, residual, weight, eps):
    total = x + residual
    wide = total.astype("float32")
    scale = jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + eps)
    return (wide * scale * weight.astype("float32")).astype(x.dtype), total


def peers(framework):
    torch = {"torch": eager, "onnxruntime": node, "vllm": kernel}
    jax = {"jax.jit": fused}
    return {"torch": torch, "jax": jax}.get(framework)
