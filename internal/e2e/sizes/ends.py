"""Loops of which only both ends run."""

import ctypes
import importlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tvm_ffi
from opcast_backend import library_path, set_num_threads

HERE = Path(__file__).parent


class Ends:
    """The lender of ends.cc, and the place where the library looks for one."""

    def __init__(self) -> None:
        folders = [HERE.parents[2] / "backend", *map(Path, tvm_ffi.libinfo.include_paths())]
        with tempfile.TemporaryDirectory() as folder:
            built = Path(folder) / "ends.so"
            command = [*shlex.split(os.environ.get("CXX", "c++")), "-std=c++17", "-O1", "-fPIC"]
            command += [f"-I{x}" for x in folders]
            command += ["-shared", str(HERE / "ends.cc"), "-o", str(built)]
            subprocess.run(command, check=True)
            ends = ctypes.CDLL(str(built))
        ends.Lender.restype = ctypes.c_void_p
        self.lender = ends.Lender()
        # What the function gives is a pointer to the place of the calling thread.
        collection: Any = importlib.import_module("tvm_ffi").load_module(str(library_path()))
        place = ctypes.CFUNCTYPE(ctypes.c_void_p)(collection["_opcast_lent_threads"]().value)
        self.place = ctypes.c_void_p.from_address(place())
        set_num_threads(2)  # a loop of one thread asks nobody

    @contextmanager
    def only(self) -> Generator[None]:
        """Run only the ends of the loops of calls of this thread."""
        self.place.value = self.lender
        try:
            yield
        finally:
            self.place.value = None
