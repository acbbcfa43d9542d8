"""An independent formula. Convolutions without a tap are not all known to PyTorch."""


def independent(torch, x, weight, bias, stride, padding, dilation, groups, P, Q):
    if x.numel() == 0 or weight.numel() == 0:
        y = torch.zeros(len(x), len(weight), P, Q, dtype=x.dtype)
        return y if bias is None else y + bias[:, None, None]
    return torch.nn.functional.conv2d(x, weight, bias, stride, padding, dilation, groups)


def eager(torch, x, weight, bias, stride, padding, dilation, groups):
    return torch.nn.functional.conv2d(x, weight, bias, stride, padding, dilation, groups)


def node(onnx_node, x, weight, stride, padding, dilation, groups):
    # Of images whose size stays, as in the workloads.
    like = x.new_empty(len(x), len(weight), *x.shape[2:], device="meta")
    given = {"strides": stride, "pads": [*padding, *padding], "dilations": dilation}
    return onnx_node.run("Conv", [x, weight], [like], group=groups, **given)


def fused(jax, x, weight, stride, padding, dilation, groups):
    pads = [(before, before) for before in padding]
    return jax.lax.conv_general_dilated(
        x, weight, stride, pads, rhs_dilation=dilation, feature_group_count=groups
    )


def peers(framework):
    torch = {"torch": eager, "onnxruntime": node}
    jax = {"jax.jit": fused}
    return {"torch": torch, "jax": jax}.get(framework)
