"""The peers in C++: compiled on first use into build/bench, which needs about a minute."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from sysconfig import get_path
from typing import Any

import opcast_backend
import tvm_ffi
from torch.utils import cpp_extension

_HERE = Path(__file__).parent
_BUILT = Path(__file__).parents[2] / "build" / "bench"
_load: Any = vars(cpp_extension)["load"]
_libinfo: Any = tvm_ffi.libinfo


@cache
def load() -> Any:
    """Return the extension module, bound to the exported rms_norm; it also registers the torch op."""
    module = _compiled("opcast_bench_peers", "rms_norm_torch.cc")
    module.bind(_kernel())
    return module


@cache
def load_stable() -> None:
    """Register the torch op that is written for the stable ABI."""
    _compiled("opcast_bench_stable", "rms_norm_stable.cc", is_python_module=False)
    (library,) = (_BUILT / "opcast_bench_stable").glob("*.so")
    ctypes.CDLL(str(library)).opcast_bench_bind(ctypes.c_void_p(_kernel()))


@cache
def load_xla(include: str) -> ctypes.CDLL:
    """Return the library with the handler for XLA, whose headers are in a folder."""
    built = _shared("rms_norm_xla", [_HERE / "rms_norm_xla.cc"], [include])
    library = ctypes.CDLL(str(built))
    library.opcast_bench_bind(ctypes.c_void_p(_kernel()))
    return library


@cache
def load_nanobind() -> Any:
    """Return the module that nanobind makes, bound to the exported rms_norm; None unless `make benchpeers` installed it."""
    folder = _BUILT / "peers" / "nanobind"
    if not folder.exists():
        return None
    name = "opcast_bench_nanobind"
    include = [folder / "include", folder / "ext" / "robin_map" / "include", get_path("include")]
    sources = [_HERE / "rms_norm_nanobind.cc", folder / "src" / "nb_combined.cpp"]
    built = _shared(name, sources, include)
    spec: Any = spec_from_file_location(name, built)
    module: Any = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.bind(_kernel())
    return module


def _shared(name: str, sources: list[Path], include: list[Any]) -> Path:
    """Compile a shared library, unless it is newer than the first of its sources."""
    built = _BUILT / f"{name}.so"
    if built.exists() and built.stat().st_mtime > sources[0].stat().st_mtime:
        return built
    _BUILT.mkdir(parents=True, exist_ok=True)
    headers = [f"-isystem{folder}" for folder in (*include, *_libinfo.include_paths())]
    options = ["-std=c++17", "-O2", "-fPIC", "-shared", *map(str, sources), "-o", str(built)]
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    subprocess.run([*compiler, "-fno-strict-aliasing", *headers, *options], check=True)
    return built


def _compiled(name: str, source: str, **more: Any) -> Any:
    """Return what PyTorch makes of a file."""
    folder = _BUILT / name
    folder.mkdir(parents=True, exist_ok=True)
    ninja = Path(sys.executable).parent  # what ran `make` may have no active environment
    os.environ["PATH"] = f"{ninja}{os.pathsep}{os.environ['PATH']}"
    if not any(folder.glob("*.so")):
        print(f"compiling {source} into build/bench, once", file=sys.stderr)
    return _load(
        name=name,
        sources=[str(_HERE / source)],
        extra_include_paths=_libinfo.include_paths(),
        extra_cflags=["-O2"],
        build_directory=str(folder),
        **more,
    )


def _kernel() -> int:
    """Return the address of the exported function."""
    library = ctypes.CDLL(str(opcast_backend.library_path()))
    address = ctypes.cast(library["__tvm_ffi_rms_norm"], ctypes.c_void_p).value
    assert address is not None, "the library exports the function"
    return address
