"""Compare numbers of 4 and 8 bits, and tiles of scales, with ml_dtypes and PyTorch."""

import importlib
from typing import Any

import ml_dtypes
import numpy as np
import torch

ops: Any = importlib.import_module("inference_torch")
_torch: Any = torch
ml: Any = ml_dtypes
E4M3, E8M0 = _torch.float8_e4m3fn, _torch.float8_e8m0fnu


def numbers(dtype: Any) -> Any:
    """Return what the 256 bytes of two codes each stand for, the lower half of a byte first."""
    values = np.arange(16, dtype=np.uint8).view(dtype).astype(np.float32)
    return np.stack([np.tile(values, 16), np.repeat(values, 16)], axis=-1).ravel()


def groups(size: int, largest: float, values: Any) -> Any:
    """Return groups that hold values behind a largest one."""
    rows = values[: len(values) // (size - 1) * (size - 1)].reshape(-1, size - 1)
    return _torch.nn.functional.pad(rows, (1, 0), value=largest)


def same(a: Any, b: Any) -> bool:
    """Whether all numbers are equal, NaN too."""
    return bool(np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True))


def codes(dtype: Any, values: Any) -> Any:
    """Return numbers as pairs of codes."""
    each = values.float().numpy().astype(dtype).view(np.uint8) & 15
    return each[..., ::2] | each[..., 1::2] << 4


pairs = _torch.arange(256).byte()
every = _torch.arange(-(2**15), 2**15).short().view(torch.bfloat16)
small, positive = every[every.abs() < 6], every[(every > 2.0**-100) & (every <= 448)]
one, f32 = _torch.tensor(1.0), "float32"

print("each code of float4_e2m1fn and int4")
print(
    same(
        ops.dequantize_mxfp4(pairs, _torch.ones(16).to(E8M0), out_dtype=f32),
        numbers(ml.float4_e2m1fn),
    )
)
print(
    same(
        ops.dequantize_nvfp4(pairs[None], _torch.ones(1, 32).to(E4M3), one, out_dtype=f32)[0],
        numbers(ml.float4_e2m1fn),
    )
)
print(same(ops.dequantize_int4(pairs, _torch.ones(16), out_dtype=f32), numbers(ml.int4)))

print("each code of a scale")
ones = _torch.full((256, 16), 0x22).byte()
print(
    same(
        ops.dequantize_mxfp4(ones, pairs[:, None].view(E8M0), out_dtype=f32)[:, 0],
        pairs.view(E8M0).float(),
    )
)
print(
    same(
        ops.dequantize_nvfp4(ones[:, :8], pairs[:, None].view(E4M3), one, out_dtype=f32)[:, 0],
        pairs.view(E4M3).float(),
    )
)
scales = ops.quantize_nvfp4(groups(16, 0, (6 * positive.float()).repeat_interleave(15)), one)[1]
print(same(scales.view(_torch.uint8)[:, 0], positive.to(E4M3).view(_torch.uint8)))

print("each bfloat16 as a number of 4 bits")
print(
    same(ops.quantize_mxfp4(groups(32, 6, small))[0], codes(ml.float4_e2m1fn, groups(32, 6, small)))
)
print(
    same(
        ops.quantize_nvfp4(groups(16, 6, small), one)[0],
        codes(ml.float4_e2m1fn, groups(16, 6, small)),
    )
)
print(
    same(ops.quantize_int4(groups(32, 7, small))[0], codes(ml.int4, groups(32, 7, small).round()))
)

print("scales in tiles")
x, y = _torch.randn(150, 80), _torch.randn(130, 80)
(a, a_rows), (b, b_rows) = (ops.quantize_nvfp4(m, one) for m in (x, y))
a_tiles, b_tiles = (ops.quantize_nvfp4(m, one, layout="swizzled")[1] for m in (x, y))
row, group = np.arange(150)[:, None], np.arange(5)
place = (row // 128 * 2 + group // 4) * 512 + row % 32 * 16 + row // 32 % 4 * 4 + group % 4
want = np.zeros(a_tiles.numel(), np.uint8)
want[place] = a_rows.view(_torch.uint8).numpy()
print(same(a_tiles.view(_torch.uint8).ravel(), want))
by_rows, by_tiles = (
    [
        ops.dequantize_nvfp4(q, s, one, layout=layout, out_dtype=f32)
        for q, s in ((a, left), (b, right))
    ]
    for layout, left, right in (("linear", a_rows, b_rows), ("swizzled", a_tiles, b_tiles))
)
print(all(map(same, by_rows, by_tiles)))
product = ops.gemm_nvfp4(a, b, a_tiles, b_tiles, one, layout="swizzled", out_dtype=f32)
print(same(product, ops.gemm_nvfp4(a, b, a_rows, b_rows, one, out_dtype=f32)))
print(bool(_torch.allclose(product, by_rows[0] @ by_rows[1].T, 1e-5, 1e-4)))
