"""An independent formula."""


def independent(torch, a, b_packed, scale, zero, group_size):
    codes = torch.empty((b_packed.shape[0], a.shape[-1]), dtype=torch.float64)
    codes[:, 0::2] = (b_packed % 16).double()
    codes[:, 1::2] = torch.div(b_packed, 16, rounding_mode="floor").double()
    groups = codes.unflatten(1, (scale.shape[1], group_size))
    zeros = torch.tensor(8.0) if zero is None else zero.double()[..., None]
    b = ((groups - zeros) * scale[..., None]).flatten(1)
    return torch.einsum("...k,nk->...n", a, b)


def samples(rng, sizes):
    groups = (sizes["N"], sizes["K"] // sizes["group_size"])
    return {
        "b_packed": rng.integers(0, 256, (sizes["N"], sizes["K"] // 2)),
        "zero": rng.integers(1, 16, groups),
    }


def eager(torch, a, b_packed, scale, zero, group_size):
    codes = torch.stack([b_packed & 15, b_packed >> 4], dim=-1).to(a.dtype)
    zeros = 8 if zero is None else zero.to(a.dtype)[..., None]
    b = (codes.view(*scale.shape, group_size) - zeros) * scale[..., None]
    return torch.nn.functional.linear(a, b.flatten(1))


def peers(framework):
    return {"torch": {"torch": eager}}.get(framework)
