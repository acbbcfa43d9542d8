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


def widened(torch, a, b, a_scale, b_scale, out_dtype):
    c = torch.nn.functional.linear(a.to(out_dtype), b.to(out_dtype))
    return (c * a_scale * b_scale.T).to(out_dtype)


def dot(jax, a, b, a_scale, b_scale, out_dtype):
    whole = a.dtype == "int8"
    a, b = (a, b) if whole else (a.astype(out_dtype), b.astype(out_dtype))
    wanted = "int32" if whole else "float32"
    contract = (((a.ndim - 1,), (1,)), ((), ()))
    c = jax.lax.dot_general(a, b, contract, preferred_element_type=wanted)
    return (c.astype("float32") * a_scale * b_scale.T).astype(out_dtype)


def peers(framework):
    torch = {"torch": eager, "torch, widened": widened}
    jax = {"jax.jit": dot}
    return {"torch": torch, "jax": jax}.get(framework)
