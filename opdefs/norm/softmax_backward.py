"""An independent formula: autograd would need the logits."""


def independent(torch, grad_y, y):
    return torch.ops.aten._softmax_backward_data(grad_y, y, -1, y.dtype)


def fused(jax, grad_y, y):
    g, wide = grad_y.astype("float32"), y.astype("float32")
    return (wide * (g - (g * wide).sum(-1, keepdims=True))).astype(y.dtype)


def peers(framework):
    return {"torch": {"torch": independent}, "jax": {"jax.jit": fused}}.get(framework)
