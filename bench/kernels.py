"""Measure kernels for the CPU beside PyTorch, eager and compiled, and JAX.

Prints for each op, dtype and shape the median time, the bytes per second that it reads and writes, and the
ratio to the fastest peer of the same round: above 1, ours is faster. ``--json`` also writes them to a file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from pathlib import Path
from typing import Any

import torch
from kernel_cases import Case, cases
from stopwatch import Call, Spread, measure

_SHAPES = "64x1024,512x4096,4096x4096"
_DTYPES = "float32,bfloat16,float16"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="CPUs that the process may use")
    parser.add_argument("--rounds", type=int, default=10, help="samples per call")
    parser.add_argument("--shapes", default=_SHAPES)
    parser.add_argument("--dtypes", default=_DTYPES)
    parser.add_argument("--ops", default="", help="only those whose name begins with this")
    parser.add_argument("--json", type=Path, help="file for the results")
    options = parser.parse_args()
    # Before JAX makes its threads: it has no other setting for their number.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    bandwidth = _copy_bandwidth(options.rounds)
    print(f"{options.threads} threads; a copy of 256 MiB moves {bandwidth:.1f} GB/s\n")
    print(f"{'op':22}{'dtype':10}{'shape':>12}{'µs':>10}{'GB/s':>7}{'ratio':>7}  beside")
    found: list[dict[str, Any]] = []
    for shape in options.shapes.split(","):
        for name in options.dtypes.split(","):
            rows, columns = map(int, shape.split("x"))
            found += _measure((rows, columns), getattr(torch, name), options)
    ratios = [math.log(line["ratio"]) for line in found]
    print(f"\ngeometric mean of the ratios: {math.exp(sum(ratios) / len(ratios)):.2f}")
    if options.json:
        state = {"threads": options.threads, "copy": round(bandwidth, 1), "results": found}
        options.json.write_text(json.dumps(state, indent=1) + "\n")


def _copy_bandwidth(rounds: int) -> float:
    """Return the bytes per nanosecond that a copy reads and writes."""
    source = torch.ones(1 << 25)
    target = torch.empty_like(source)
    [samples] = measure([Call("t.copy_(s)", {"t": target, "s": source})], rounds)
    return 2 * source.numel() * source.element_size() / Spread.of(samples).median / 1e3


def _measure(
    shape: tuple[int, int], dtype: torch.dtype, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Measure the cases of a shape and dtype, print and return their lines."""
    found: list[dict[str, Any]] = []
    for case in cases(shape, dtype):
        if case.op.startswith(options.ops):
            name = str(dtype).removeprefix("torch.")
            line = {"op": case.op, "dtype": name, "shape": list(shape)}
            found.append(line | _time(case, options.rounds))
            print(_line(found[-1]), flush=True)
    return found


def _time(case: Case, rounds: int) -> dict[str, Any]:
    case.prepare()
    ours = Call("f(*arrays)", {"f": case.ours, "arrays": case.arrays})
    peers = [Call("f()", {"f": peer}) for peer in case.peers.values()]
    own, *others = measure([ours, *peers], rounds)
    ratios = [Spread.of([b / a for a, b in zip(own, other)]).median for other in others]
    best, time = ratios.index(min(ratios)), Spread.of(own).median
    return {
        "us": round(time, 2),
        "gb_per_s": round(case.bytes / time / 1e3, 2),
        "ratio": round(ratios[best], 3),
        "beside": list(case.peers)[best],
    }


def _line(found: dict[str, Any]) -> str:
    shape = "x".join(map(str, found["shape"]))
    text = f"{found['op']:22}{found['dtype']:10}{shape:>12}{found['us']:10.1f}"
    return text + f"{found['gb_per_s']:7.1f}{found['ratio']:7.2f}  {found['beside']}"


if __name__ == "__main__":
    main()
