"""An independent formula."""


def independent(torch, x, scale_ub, out_dtype):
    most = {"int8": 127, "float8_e4m3fn": 448, "float8_e4m3fnuz": 240}[out_dtype]
    largest = torch.nn.functional.pad(x.abs(), (0, 1)).amax(-1, keepdim=True)
    largest = largest if scale_ub is None else torch.minimum(largest, scale_ub)
    scale = (largest / most).float().double()
    scale = scale.masked_fill(scale == 0, 1)
    q = torch.clamp(x / scale, -most, most)
    return q.round().nan_to_num(0) if out_dtype == "int8" else q, scale


def eager(torch, x, out_dtype):
    kind = torch.iinfo if out_dtype == torch.int8 else torch.finfo
    most = kind(out_dtype).max
    scale = x.abs().amax(-1, keepdim=True).float() / most
    scale = scale.masked_fill(scale == 0, 1)
    q = (x / scale).clamp(-most, most)
    return (q.round() if out_dtype == torch.int8 else q).to(out_dtype), scale


def fused(jax, x, out_dtype):
    whole = out_dtype == "int8"
    most = float((jax.numpy.iinfo if whole else jax.numpy.finfo)(out_dtype).max)
    rows = x.astype("float32")
    scale = abs(rows).max(-1, keepdims=True) / most
    scale = jax.numpy.where(scale == 0, 1, scale)
    q = (rows / scale).clip(-most, most).reshape(x.shape)
    return (q.round() if whole else q).astype(out_dtype), scale


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
