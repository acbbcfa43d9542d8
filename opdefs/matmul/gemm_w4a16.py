"""An independent formula."""

import functools


def independent(torch, a, b_packed, scale, zero, group_size):
    groups = b_packed.double().unflatten(1, (scale.shape[1], group_size))
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


@functools.cache
def repacked(torch, b_packed, scale):
    """Return the weights in the layout that PyTorch's own product takes, which is made once."""
    codes = torch.stack([b_packed & 15, b_packed >> 4], dim=-1).flatten(1)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes.int(), 2)
    scales = torch.stack([scale, torch.zeros_like(scale)], dim=-1)
    return packed, scales.transpose(0, 1).contiguous()


def prepacked(torch, a, b_packed, scale, group_size):
    # On a CPU, and without zeros.
    packed, scales = repacked(torch, b_packed, scale)
    return torch.ops.aten._weight_int4pack_mm_for_cpu(a, packed, group_size, scales)


def dot(jax, a, b_packed, scale, group_size):
    # Without zeros, as in the workload.
    codes = jax.numpy.stack([b_packed & 15, b_packed >> 4], -1).reshape(*scale.shape, group_size)
    b = ((codes.astype(a.dtype) - 8) * scale[..., None]).reshape(len(scale), -1)
    return jax.lax.dot_general(a, b, (((a.ndim - 1,), (1,)), ((), ())))


def peers(framework):
    torch = {"torch": eager, "torch, packed before": prepacked}
    jax = {"jax.jit": dot}
    return {"torch": torch, "jax": jax}.get(framework)
