"""Count the instructions of a call of the library, which no other program of the machine changes.

Calls rms_norm of x[4, 16] from C++ under valgrind: what 100 calls more need, divided by 100. Valgrind knows
no AVX-512, so that the kernel is the one for processors without it.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import figures
import opcast_backend
import tvm_ffi
from figures import Figure

_SOURCE = Path(__file__).with_name("peers") / "instructions.cc"
_FEW, _MANY = 100, 200
_COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")
_libinfo: Any = tvm_ffi.libinfo


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", type=Path, help="write the figure into this file, too")
    options = parser.parse_args()
    name, what = "instructions/rms_norm/call", "instructions of a call of the export of rms_norm"
    figure = Figure(name, what, "instructions", missing="there is no valgrind", exact=True)
    if shutil.which("valgrind"):
        figure = Figure(name, what, "instructions", [_counted()], exact=True)
    told = figure.told()
    print(f"{what}: {told['value']['median'] if told['value'] else told['missing']}")
    if options.figures:
        figures.write(options.figures, [figure])


def _counted() -> float:
    """Return how many instructions one call takes."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "instructions")
        library = Path(_libinfo.find_libtvm_ffi())
        headers = [f"-isystem{path}" for path in _libinfo.include_paths()]
        command = [
            *shlex.split(os.environ.get("CXX", "c++")),
            "-std=c++17",
            "-O2",
            *headers,
            str(_SOURCE),
        ]
        command += [
            "-Wl,--no-as-needed",
            str(library),
            f"-Wl,-rpath,{library.parent}",
            "-ldl",
            "-o",
            str(program),
        ]
        subprocess.run(command, check=True)
        few, many = (_collected(program, times) for times in (_FEW, _MANY))
    return (many - few) / (_MANY - _FEW)


def _collected(program: Path, times: int) -> int:
    """Return the instructions of a whole process."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program)]
    command += [str(opcast_backend.library_path()), str(times)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = _COLLECTED.search(run.stderr)
    if run.returncode or not found:
        raise SystemExit(run.stderr)
    return int(found[1])


if __name__ == "__main__":
    main()
