"""Measure how long the conformance suite takes for one op through one framework."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import figures
from figures import ROOT, Figure

_OPS = "rms_norm,gemm"
_ADAPTORS = "torch,jax,numpy"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", default=_OPS, help="names of ops")
    parser.add_argument("--adaptors", default=_ADAPTORS, help="names of adaptors")
    parser.add_argument("--figures", type=Path, help="write the figures into this file, too")
    options = parser.parse_args()
    found: list[Figure] = []
    for op in options.ops.split(","):
        for adaptor in options.adaptors.split(","):
            begin = time.perf_counter()
            code = _tested(op, adaptor)
            seconds = time.perf_counter() - begin
            print(f"{op} through {adaptor}: {seconds:.1f} s, exit code {code}", flush=True)
            name, what = (
                f"suite/{op}/{adaptor}/wall",
                f"opcast test {op} --adaptor {adaptor} --jobs 2",
            )
            samples = [] if code else [seconds]
            found.append(Figure(name, what, "s", samples, missing=f"it ended with {code}"))
    if options.figures:
        figures.write(options.figures, found)


def _tested(op: str, adaptor: str) -> int:
    """Test an op in the core profile and return the exit code."""
    command: list[str | Path] = [ROOT / "build" / "bin" / "opcast", "test", op]
    command += ["--adaptor", adaptor, "--jobs", "2", "--no-build", "--python", sys.executable]
    command += ["--report", ROOT / "build" / "bench" / "parts" / "report"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    main()
