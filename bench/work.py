"""Measure how long it takes to generate a collection, to test an op, and to build after an edit.

The last is compared with an extension of PyTorch that has one op.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import figures
import tvm_ffi
from figures import ROOT, Figure

_PARTS = ROOT / "build" / "bench" / "parts"
_EXTENSION = Path(__file__).parent / "peers" / "rms_norm_torch.cc"
"""The op that is compiled as an extension of PyTorch."""

_SIZES = {"(10|100|1000)$": 5, "10000$": 1}
"""How often collections of these sizes are generated, by the benchmark in gen_test.go."""

_LINE = re.compile(r"^BenchmarkGenerate/ops=(\d+)\S*\s+\d+\s+(\d+) ns/op\s+([\d.]+) B/definition")

_TESTED = [(op, adaptor) for op in ("rms_norm", "gemm") for adaptor in ("torch", "jax", "numpy")]


def main() -> None:
    """Measure and print."""
    parts = {"generate": _generated, "test": _tested, "edit": _edited}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=parts, help="measure this part")
    parser.add_argument("--figures", type=Path, help="write the figures into this file, too")
    options = parser.parse_args()
    found = [f for name, part in parts.items() if options.only in {None, name} for f in part()]
    for figure in found:
        value = f"{figure.samples[0]:.4g} {figure.unit}" if figure.samples else figure.missing
        print(f"{figure.what}: {value}")
    if options.figures:
        figures.write(options.figures, found)


def _generated() -> Iterator[Figure]:
    """Yield how long it takes to generate the files of collections, and how much it is per op."""
    for sizes, count in _SIZES.items():
        command = [os.environ.get("GO", "go"), "test", "-run=^$", f"-bench=Generate/ops={sizes}"]
        command += ["-benchtime=1x", f"-count={count}", "./bench"]
        run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        lines = [match for line in run.stdout.splitlines() if (match := _LINE.match(line))]
        for ops in dict.fromkeys(match[1] for match in lines):
            of = [match for match in lines if match[1] == ops]
            seconds, size = [float(match[2]) / 1e9 for match in of], float(of[0][3])
            yield Figure(f"gen/{ops}/time", f"generating the files of {ops} ops", "s", seconds)
            yield Figure(
                f"gen/{ops}/bytes_per_op", f"generated of {ops} ops", "bytes", [size], exact=True
            )


def _tested() -> Iterator[Figure]:
    """Yield how long the core profile takes for one op through one framework."""
    for op, adaptor in _TESTED:
        command: list[str | Path] = [ROOT / "build" / "bin" / "opcast", "test", op]
        command += ["--adaptor", adaptor, "--jobs", "2", "--no-build", "--python", sys.executable]
        begin = time.perf_counter()
        code = subprocess.run(
            [*command, "--report", _PARTS / "report"], cwd=ROOT, check=False
        ).returncode
        seconds = [] if code else [time.perf_counter() - begin]
        what = f"opcast test {op} --adaptor {adaptor} --jobs 2"
        yield Figure(
            f"suite/{op}/{adaptor}/wall", what, "s", seconds, missing=f"it ended with {code}"
        )


def _edited() -> Iterator[Figure]:
    """Yield how many times as long an extension of PyTorch takes to compile after an edit as our own op."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, _EXTENSION.name)
        shutil.copy(_EXTENSION, source)
        _compiled(source)
        with source.open("a", encoding="utf-8") as file:
            file.write("// An edit.\n")
        seconds = _compiled(source)
    ours, cost = 0.0, _PARTS / "cost.json"
    if cost.exists():  # of opcast bench --suite cost
        rows = json.loads(cost.read_text(encoding="utf-8"))["figures"]
        ours = sum(
            f["value"]["median"] for f in rows if f["name"] == "build/edited/wall" and f["value"]
        )
    yield Figure(
        "author/edited/ratio",
        f"an extension of PyTorch with one op, edited and compiled in {seconds:.1f} s",
        "ratio",
        [seconds / ours] if ours else [],
        beside="opcast build after an edit of one kernel",
        better="more",
        missing=f"{cost.name} has no build after an edit",
    )


def _compiled(source: Path) -> float:
    """Return the seconds in which PyTorch builds an extension, without those in which PyTorch is imported."""
    code = (
        "import sys, time; from torch.utils import cpp_extension;"
        " begin = time.perf_counter();"
        " cpp_extension.load(name='opcast_edited', sources=[sys.argv[1]], build_directory=sys.argv[2],"
        ' extra_include_paths=sys.argv[3:], extra_cflags=["-O2"]);'
        " print(time.perf_counter() - begin)"
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where ninja is
    command = [sys.executable, "-c", code, source, source.parent, *tvm_ffi.libinfo.include_paths()]
    run = subprocess.run(
        command, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, text=True, check=True
    )
    return float(run.stdout.split()[-1])


if __name__ == "__main__":
    main()
