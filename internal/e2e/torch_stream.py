"""Shows that the library for PyTorch finds PyTorch's function for the current stream of a GPU, if this PyTorch has one."""

from __future__ import annotations

import ctypes
from pathlib import Path

import opcast_torch
import torch

FUNCTION = "aoti_torch_get_current_cuda_stream"

libraries = [
    Path(torch.__file__).parent / "lib" / f"libtorch_{kind}.so" for kind in ("cuda", "hip")
]
wanted = [
    ctypes.cast(getattr(ctypes.CDLL(str(path)), FUNCTION), ctypes.c_void_p).value
    for path in libraries
    if path.exists()
]
ours = ctypes.CDLL(str(next(Path(opcast_torch.__file__).parent.glob("lib/*.so"))))
ours.opcast_torch_stream_getter.restype = ctypes.c_void_p
found = ours.opcast_torch_stream_getter()
if [found] != (wanted or [None]):
    raise SystemExit(f"{FUNCTION}: found {found}, want {wanted}")
