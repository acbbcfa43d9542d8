"""An independent formula."""


def independent(torch, x, group_size, out_dtype):
    most = {"int8": 127, "float8_e4m3fn": 448, "float8_e4m3fnuz": 240}[out_dtype]
    groups = x.unflatten(-1, (x.shape[-1] // group_size, group_size))
    scale = (groups.abs().amax(-1, keepdim=True) / most).float().double()
    scale = scale.masked_fill(scale == 0, 1)
    q = torch.clamp(groups / scale, -most, most).flatten(-2)
    return q.round().nan_to_num(0) if out_dtype == "int8" else q, scale.squeeze(-1)
