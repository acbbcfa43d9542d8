"""A kernel in Triton for an op of the collection.

It runs on a GPU. Where there is none, Triton's interpreter runs it on the CPU:

    TRITON_INTERPRET=1 python examples/kernels/in_triton.py
"""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import os
import sys
from typing import Any

import opcast_backend
import opcast_torch
import torch
import triton
import triton.language as tl

WIDEST = 65536
"""Elements of a row that fit into one block."""


@triton.jit
def _rows(y: Any, x: Any, weight: Any, eps: Any, n: Any, block: tl.constexpr) -> None:
    row = tl.program_id(0).to(tl.int64) * n
    column = tl.arange(0, block)
    inside = column < n
    values = tl.load(x + row + column, mask=inside, other=0).to(tl.float32)
    scale = tl.load(weight + column, mask=inside, other=0).to(tl.float32)
    values = values / tl.sqrt(tl.sum(values * values) / n + eps) * scale
    tl.store(y + row + column, values.to(y.dtype.element_ty), mask=inside)


def rms_norm(y: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> None:
    """Write the normalised rows of x to y, one program per row."""
    n = x.shape[-1]
    launch: Any = _rows
    launch[(x.numel() // n,)](y, x, weight, eps, n, block=triton.next_power_of_2(n))


def supported(
    _y: opcast_backend.ArraySpec,
    x: opcast_backend.ArraySpec,
    _weight: opcast_backend.ArraySpec,
    **_: Any,
) -> str | None:
    """Take the rows that fit."""
    return f"needs N to be at most {WIDEST}" if x.shape[-1] > WIDEST else None


def main() -> None:
    """Compare the kernel with PyTorch's own function."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        sys.exit("there is no GPU: set TRITON_INTERPRET=1 to run the kernel on the CPU")
    with opcast_backend.register_kernel(
        "rms_norm",
        rms_norm,
        name="in_triton",
        device=device,
        framework="torch",
        supported=supported,
    ):
        torch.manual_seed(0)
        for dtype, bound in ((torch.float32, 1e-5), (torch.bfloat16, 2.0**-7)):
            x = torch.randn(8, 300, device=device, dtype=dtype)
            weight = torch.randn(300, device=device, dtype=dtype)
            with opcast_backend.use_kernel("rms_norm", "in_triton"):
                found = opcast_torch.rms_norm(x, weight)
            wanted = torch.nn.functional.rms_norm(x.double(), (300,), weight.double(), 1e-6)
            error = float(((found - wanted) / wanted).abs().max())
            assert error < bound, error
            print(
                f"{dtype} on {device}: relative error below {bound:.0e} against PyTorch in float64"
            )


if __name__ == "__main__":
    main()
