"""An independent formula."""


def independent(torch, x, group_size, out_dtype, scale_ue8m0):
    most = {"int8": 127, "float8_e4m3fn": 448, "float8_e4m3fnuz": 240}[out_dtype]
    groups = x.unflatten(-1, (x.shape[-1] // group_size, group_size))
    scale = (groups.abs().amax(-1, keepdim=True) / most).float().double()
    scale = scale.masked_fill(scale == 0, 1)
    if scale_ue8m0:
        powers = 2.0 ** torch.arange(-149, 128, dtype=torch.float64)
        above = powers[torch.searchsorted(powers, scale).clamp(max=len(powers) - 1)]
        scale = torch.where(scale.isfinite(), above, scale)
    q = torch.clamp(groups / scale, -most, most).flatten(-2)
    return q.round().nan_to_num(0) if out_dtype == "int8" else q, scale.squeeze(-1)


def eager(torch, x, group_size, out_dtype):
    kind = torch.iinfo if out_dtype == torch.int8 else torch.finfo
    most = kind(out_dtype).max
    groups = x.unflatten(-1, (-1, group_size))
    scale = groups.abs().amax(-1, keepdim=True).float() / most
    scale = scale.masked_fill(scale == 0, 1)
    q = (groups / scale).clamp(-most, most).flatten(-2)
    return (q.round() if out_dtype == torch.int8 else q).to(out_dtype), scale[..., 0]


def fused(jax, x, group_size, out_dtype):
    whole = out_dtype == "int8"
    most = float((jax.numpy.iinfo if whole else jax.numpy.finfo)(out_dtype).max)
    rows = x.reshape(*x.shape[:-1], -1, group_size).astype("float32")
    scale = abs(rows).max(-1, keepdims=True) / most
    scale = jax.numpy.where(scale == 0, 1, scale)
    q = (rows / scale).clip(-most, most).reshape(x.shape)
    return (q.round() if whole else q).astype(out_dtype), scale[..., 0]


def peers(framework):
    return {"torch": {"torch": eager}, "jax": {"jax.jit": fused}}.get(framework)
