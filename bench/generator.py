"""Measure how long it takes to generate the files of 10 to 10,000 ops, by the benchmark in gen_test.go."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from pathlib import Path

import figures
from figures import ROOT, Figure

_SIZES = {"(10|100|1000)$": 5, "10000$": 1}
"""How often collections of these sizes are generated."""

_LINE = re.compile(r"^BenchmarkGenerate/ops=(\d+)\S*\s+\d+\s+(\d+) ns/op\s+([\d.]+) B/definition")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", type=Path, help="write the figures into this file, too")
    options = parser.parse_args()
    found = [match for sizes, count in _SIZES.items() for match in _run(sizes, count)]
    times: dict[str, list[float]] = {}
    for match in found:
        times.setdefault(match[1], []).append(float(match[2]) / 1e9)
    told = [
        Figure(f"gen/{ops}/time", f"generating the files of {ops} ops", "s", seconds)
        for ops, seconds in times.items()
    ]
    sizes = {match[1]: float(match[3]) for match in found}
    told += [
        Figure(f"gen/{ops}/bytes_per_op", f"generated of {ops} ops", "bytes", [size], exact=True)
        for ops, size in sizes.items()
    ]
    if options.figures:
        figures.write(options.figures, told)


def _run(sizes: str, count: int) -> list[re.Match[str]]:
    """Run the benchmark of some sizes and return the lines with results."""
    command = [os.environ.get("GO", "go"), "test", "-run=^$", f"-bench=Generate/ops={sizes}"]
    command += ["-benchtime=1x", f"-count={count}", "./bench"]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    print(run.stdout)
    return [found for line in run.stdout.splitlines() if (found := _LINE.match(line))]


if __name__ == "__main__":
    main()
