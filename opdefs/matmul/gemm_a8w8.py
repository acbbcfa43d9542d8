"""An independent formula."""


def independent(torch, a, b, a_scale, b_scale, bias):
    return torch.nn.functional.linear(a.double() * a_scale, b.double() * b_scale, bias)


def eager(torch, a, b, a_scale, b_scale, bias, out_dtype):
    rows, scale = a.flatten(0, -2), a_scale.flatten(0, -2)
    if a.dtype == torch.int8:
        count = max(32 - len(rows), 0)  # CUDA refuses fewer than 17
        c = torch._int_mm(torch.nn.functional.pad(rows, (0, 0, 0, count)), b.T)[: len(rows)]
        c = (c * scale * b_scale.T).to(out_dtype)
        c = c if bias is None else c + bias
    else:
        c = torch._scaled_mm(rows, b.T, scale, b_scale.T, bias=bias, out_dtype=out_dtype)
    return c.unflatten(0, a.shape[:-1])


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
