"""Measure kernels for the CPU beside PyTorch, eager and compiled, JAX, and others that are there.

Prints for each op, dtype, shape and mode the median time, the bytes and operations per second, and the
ratio to the fastest peer of the same rounds: above 1, ours is faster. Where arrays lie in memory makes
up to a tenth of a difference, and stays while a process lives: with ``--quick``, three processes measure
one after the other, and a result is made of the samples of all. ``--json`` also writes them to a file.
``--markdown`` writes their table into another one; without ``--json`` nothing is measured, and the table
is that of the results that are checked in.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import figures
import kernel_lines
import kernel_table

_HERE = Path(__file__).parent
_BUILT = _HERE.parent / "build" / "bench"
_RESULTS = _HERE / "results" / "cpu.json"
_MOST_ENDS = 10
_QUICK = {
    "processes": 3,
    "rounds": 7,
    "seconds": 0.6,
    "shapes": "512x4096",
    "dtypes": "float32,bfloat16",
}
_WHOLE = {
    "processes": 1,
    "rounds": 10,
    "seconds": 0.6,
    "shapes": "64x1024,512x4096,4096x4096",
    "dtypes": "float32,bfloat16,float16",
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", default="1,2", help="numbers of threads, one after the other")
    parser.add_argument("--quick", action="store_true", help="few shapes and samples")
    parser.add_argument("--processes", type=int, help="whose samples make a result")
    parser.add_argument("--rounds", type=int, help="samples per call, at most")
    parser.add_argument("--seconds", type=float, help="time per case after which rounds end")
    parser.add_argument("--shapes", help="of rows: 64x1024,512x4096")
    parser.add_argument("--dtypes", help="such as float32,bfloat16")
    parser.add_argument("--ops", default="", help="only those whose name begins with this")
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--figures", type=Path, help="file for the ratios, as opcast bench has it")
    parser.add_argument(
        "--markdown", type=Path, help="file with the table, such as bench/README.md"
    )
    options = parser.parse_args()
    if options.json or options.figures or not options.markdown:
        _measure(options)
    if options.markdown:
        kernel_table.write(options.markdown, options.json or _RESULTS)
    return 0


def _measure(options: argparse.Namespace) -> None:
    """Measure with each number of threads, and keep the results where that is wanted."""
    for name, value in (_QUICK if options.quick else _WHOLE).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    runs = [_runs(int(number), options) for number in options.threads.split(",")]
    if options.figures:
        lines = [line for run in runs for line in run[1:]]
        figures.write(options.figures, map(_figure, lines))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(_written(runs), encoding="utf-8")


def _figure(line: dict[str, Any]) -> figures.Figure:
    """Return the ratio of a result to its fastest peer."""
    name, threads = kernel_table.name(line), line["threads"]
    what = f"{' '.join(kernel_lines.case(line))}, threads: {threads}"
    if "ratio" not in line:
        failed = line.get("failed", {})
        why = "; ".join(f"{who}: {reason}" for who, reason in failed.items())
        missing = why or "it has no peer here"
        return figures.Figure(name, what, "ratio", better="more", missing=missing)
    low, high = line["ratio_quartiles"]
    spread = low, line["ratio"], high
    beside = line["beside"]
    return figures.Figure(name, what, "ratio", spread=spread, beside=beside, better="more")


def _runs(threads: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure with a number of threads; return what the first process says of itself, and lines of all together."""
    runs = [run for run in (_run(threads, options) for _ in range(options.processes)) if run]
    lines = [kernel_lines.told(line) for line in kernel_lines.pooled([run[1:] for run in runs])]
    if len(runs) > 1:
        print(f"\nthreads: {threads}, {len(runs)} processes together")
        print("\n".join(map(kernel_lines.text, lines)), flush=True)
    return [runs[0][0], *lines] if runs else []


def _run(threads: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure with a number of threads, in a process of its own; return what it wrote.

    A process that ends early is followed by one that goes on behind the case.
    """
    head: dict[str, Any] = {}
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for _ in range(_MOST_ENDS):
        code, lines = _process(threads, options, len(found))
        head = head or (lines[0] if lines else {})
        for line in lines[1:]:  # the later one of two is the result
            found[kernel_lines.case(line)] = line
        if code == 0:
            break
        print(f"with {threads} threads a process ended early, with {code}", file=sys.stderr)
        if len(lines) < 2:
            break
    return [head, *found.values()] if head else []


def _process(
    threads: int, options: argparse.Namespace, skip: int
) -> tuple[int, list[dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder, "lines")
        command = [sys.executable, str(_HERE / "kernel_run.py"), f"--threads={threads}"]
        for name in ("rounds", "seconds", "shapes", "dtypes", "ops"):
            command.append(f"--{name}={getattr(options, name)}")
        command += [f"--skip={skip}", f"--to={to}", *(["--few"] if options.quick else [])]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "TORCHINDUCTOR_CACHE_DIR": str(_BUILT / "inductor"),
        }
        done = subprocess.run(command, env=environment, check=False)
        lines = to.read_text(encoding="utf-8").splitlines() if to.exists() else []
    return done.returncode, [json.loads(line) for line in lines]


def _written(runs: list[list[dict[str, Any]]]) -> str:
    """Return the results as JSON, with a line for each."""
    heads = [run[0] for run in runs if run]
    if not heads:
        raise SystemExit("nothing was measured")
    shared = {name: heads[0].pop(name) for name in ("machine", "versions", "commit", "left_out")}
    for head in heads[1:]:
        for name in shared:
            del head[name]
    lines = [line for run in runs for line in run[1:]]
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    rows = ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    text = json.dumps({"date": date, **shared, "ends": heads}, indent=1, ensure_ascii=False)
    return f'{text[:-2]},\n "results": [\n{rows}\n ]\n}}\n'


if __name__ == "__main__":
    sys.exit(main())
