"""The peers in C++: compiled on first use into build/bench, which needs about a minute."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

import opcast_backend
import tvm_ffi
from torch.utils import cpp_extension

_ROOT = Path(__file__).parents[2]
_load: Any = vars(cpp_extension)["load"]
_libinfo: Any = tvm_ffi.libinfo


def load() -> Any:
    """Return the extension module, bound to the exported rms_norm; it also registers the torch op."""
    folder = _ROOT / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    ninja = Path(sys.executable).parent  # what ran `make` may have no active environment
    os.environ["PATH"] = f"{ninja}{os.pathsep}{os.environ['PATH']}"
    if not any(folder.glob("*.so")):
        print("compiling the C++ peers into build/bench, once", file=sys.stderr)
    module = _load(
        name="opcast_bench_peers",
        sources=[str(Path(__file__).with_name("rms_norm_torch.cc"))],
        extra_include_paths=_libinfo.include_paths(),
        extra_cflags=["-O2"],
        build_directory=str(folder),
    )
    library = ctypes.CDLL(str(opcast_backend.library_path()))
    module.bind(ctypes.cast(library["__tvm_ffi_rms_norm"], ctypes.c_void_p).value)
    return module
