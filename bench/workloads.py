"""Measure the workloads of the definitions beside PyTorch, eager, and JAX under ``jit``.

Prints for each op, workload, dtype and number of threads the fastest time, and the ratio to the
fastest peer of the same rounds: above 1, ours is faster. ``--json`` writes them to a file, and
``--markdown`` their table into another one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_BEGIN, _END = "<!-- workloads: begin -->", "<!-- workloads: end -->"
_BUDGET = 0.8

# The C library keeps what is freed, or fresh results would compare whose memory it gave back.
_KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", default="1,2", help="numbers of threads, one after the other")
    parser.add_argument("--rounds", type=int, default=8, help="samples per call, at most")
    parser.add_argument("--seconds", type=float, default=1.0, help="time per case for rounds")
    parser.add_argument("--dtypes", default="own", help="such as own,f32: the workload's, others")
    parser.add_argument("--ops", default="", help="only those whose name begins so: moe,topk")
    parser.add_argument("--repeat", type=int, default=1, help="measure so often; the best counts")
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--markdown", type=Path, help="file with the table, such as README.md")
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    for _ in range(options.repeat):
        for threads in map(int, options.threads.split(",")):
            found += [{"threads": threads, **line} for line in _run(threads, options)]
    found = _best(found)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        rows = ",\n".join(json.dumps(line, ensure_ascii=False) for line in found)
        options.json.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    if options.markdown:
        _write(options.markdown, found)
    slow = [line for line in found if line.get("ratio", _BUDGET) < _BUDGET]
    for line in slow:
        named = " ".join(str(line[key]) for key in ("op", "workload", "dtype", "threads"))
        print(f"below {_BUDGET}: {line['ratio']:.2f} {named}, beside {line['beside']}")
    return 0


def _run(threads: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure in a process of its own; return the results of those that it came to."""
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder, "lines")
        to.touch()
        command = [sys.executable, str(_HERE / "workload_run.py"), f"--threads={threads}"]
        command += [f"--{n}={getattr(options, n)}" for n in ("rounds", "seconds", "dtypes", "ops")]
        environment = {**os.environ, **_KEPT, "OMP_NUM_THREADS": str(threads)}
        done = subprocess.run([*command, f"--to={to}"], env=environment, check=False)
        if done.returncode:
            print(f"with {threads} threads, the process ended with {done.returncode}")
        return [json.loads(line) for line in to.read_text(encoding="utf-8").splitlines()]


def _best(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one result of each case, with the least times of several runs."""
    best: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in found:
        key = tuple(line[name] for name in ("op", "workload", "dtype", "threads"))
        old = best.setdefault(key, line)
        if old is line or "us" not in line or "us" not in old:
            continue
        old["us"] = min(old["us"], line["us"])
        for name, us in line["peers_us"].items():
            old["peers_us"][name] = min(us, old["peers_us"].get(name, us))
        if old["peers_us"]:
            old["beside"] = min(old["peers_us"], key=old["peers_us"].__getitem__)
            old["ratio"] = round(old["peers_us"][old["beside"]] / old["us"], 3)
    return list(best.values())


def _write(path: Path, found: list[dict[str, Any]]) -> None:
    """Put the table between its two marks."""
    text = path.read_text(encoding="utf-8")
    head, rest = text.split(_BEGIN)
    tail = rest.split(_END)[1]
    path.write_text(f"{head}{_BEGIN}\n{_table(found)}{_END}{tail}", encoding="utf-8")


def _table(found: list[dict[str, Any]]) -> str:
    """Return a row for each op, workload and dtype, and columns for each number of threads."""
    threads = sorted({line["threads"] for line in found})
    columns = [f"{n} thread{'s' * (n > 1)}: µs | ratio | beside" for n in threads]
    rows = ["| op | workload | dtype | " + " | ".join(columns) + " |"]
    rows.append("|---" * (3 + 3 * len(threads)) + "|")
    cases: dict[tuple[str, ...], dict[int, dict[str, Any]]] = {}
    for line in found:
        key = line["op"], line["workload"], line["dtype"]
        cases.setdefault(key, {})[line["threads"]] = line
    for key, lines in sorted(cases.items()):
        cells = [cell for n in threads for cell in _cells(lines.get(n, {}))]
        rows.append("| " + " | ".join([*key, *cells]) + " |")
    return "\n".join(rows) + "\n"


def _cells(line: dict[str, Any]) -> list[str]:
    us = f"{line['us']:g}" if "us" in line else "-"
    ratio = f"{line['ratio']:.2f}" if "ratio" in line else "-"
    return [us, ratio, line.get("beside", "-")]


if __name__ == "__main__":
    sys.exit(main())
