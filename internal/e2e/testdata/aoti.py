"""Compiles a module of three ops ahead of time, and writes its arguments and what it computes."""

import sys
from pathlib import Path
from typing import Any

import opcast_torch
import torch

folder = Path(sys.argv[1])


class Model(torch.nn.Module):
    """An op with an optional input, one with a gradient, and one that overwrites its arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(0.5, 2, 16))
        self.matrix = torch.nn.Parameter(torch.linspace(-1, 1, 256).reshape(16, 16))

    def forward(self, x: Any) -> Any:
        """Call all three."""
        hidden = opcast_torch.gemm(x, self.matrix, self.weight, activation="silu")
        hidden = opcast_torch.gemm(hidden, self.matrix)
        stream = opcast_torch.rms_norm(hidden, self.weight)
        update, total = opcast_torch.fused_add_rms_norm(hidden * 2, stream + 0, self.weight)
        return update + total


model: Any = Model().eval()
x = torch.linspace(-1, 1, 64).reshape(4, 16)
with torch.no_grad():
    program = torch.export.export(model, (x,))
    torch._inductor.aoti_compile_and_package(program, package_path=str(folder / "model.pt2"))
    result = model(x)
(folder / "given.bin").write_bytes(x.numpy().tobytes())
(folder / "wanted.bin").write_bytes(result.numpy().tobytes())
