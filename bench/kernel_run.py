"""Measures the cases with one number of threads; ``kernels.py`` starts it in a process of its own.

The number of CPUs that a process may use decides how many threads JAX has, once and for all.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import figures
import kernel_gradients
import kernel_lines
import kernel_machine
import kernel_models
import kernel_others
import kernel_products
import kernel_rows
import torch
from kernel_agree import check
from kernel_clock import Timed, measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel_case import Build, Case

_torch: Any = torch
_REST_S = 0.006  # in which GNU's OpenMP, which PyTorch has, stops waiting for more work


def main() -> None:
    """Measure, and write a line of JSON for each result to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--shapes", required=True)
    parser.add_argument("--dtypes", required=True)
    parser.add_argument("--ops", required=True)
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--skip", type=int, required=True, help="how many there are results of")
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    _torch.manual_seed(0)
    with options.to.open("w", encoding="utf-8") as file:
        others, left = kernel_others.find()
        state = {**_ends(options.threads), "left_out": left}
        print(_headline(state), flush=True)
        print(json.dumps(state), file=file)
        place = 0
        for case in _cases(options):
            for other in others:
                other.add(case)
            for mode in case.modes():
                place += 1
                if place <= options.skip:
                    continue
                line = _named(case, mode, options.threads)
                died = line | {"failed": {"opcast or a peer": "the process ended"}}
                print(json.dumps(died), file=file, flush=True)  # the next line takes its place
                line |= _time(case, mode, options)
                print(kernel_lines.text(kernel_lines.told(line)), flush=True)
                print(json.dumps(line), file=file, flush=True)


def _ends(threads: int) -> dict[str, Any]:
    """Return what this machine can do with this many threads."""
    small = kernel_machine.cache(2) // 4  # both arrays fill half of it
    return {
        "threads": threads,
        "copy_gb_per_s": round(kernel_machine.copy(1 << 28), 1),
        "copy_in_cache_gb_per_s": round(kernel_machine.copy(small * threads), 1),
        "fma_gflop_per_s": round(kernel_machine.fma_peak(threads), 1),
        "machine": kernel_machine.describe(),
        "versions": figures.versions(),
        "commit": kernel_machine.commit(),
    }


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    """Yield the cases that were asked for; each time, arrays of the last ones can go."""
    dtypes: list[torch.dtype] = [getattr(torch, name) for name in options.dtypes.split(",")]
    for dtype in dtypes:
        for shape in options.shapes.split(","):
            rows, columns = map(int, shape.split("x"))
            for group in kernel_rows.cases, kernel_gradients.cases:
                for case in group(rows, columns, dtype):
                    if case.op.startswith(options.ops):
                        yield case
        yield from kernel_products.cases(dtype, options.ops, few=options.few)
        yield from kernel_models.cases(dtype, options.ops)


def _named(case: Case, mode: str, threads: int) -> dict[str, Any]:
    """Return what tells a result from others."""
    dtype = str(case.arrays[0].dtype).removeprefix("torch.")
    line: dict[str, Any] = {"op": case.op, "dtype": dtype, "shape": case.shape}
    return line | {"threads": threads, "mode": mode, "bytes": case.bytes}


def _time(case: Case, mode: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the samples of a case, ours and those of peers in the same rounds, and what failed."""
    ours = Timed(case.call(mode))
    try:
        ours.call()
    except Exception as error:  # one case that fails must not end the rest
        return {"failed": {kernel_lines.OURS: _reason(error)}}
    peers, failed = _build(case, mode)
    rest = _REST_S if options.threads > 1 else 0.0
    measure([ours, *peers.values()], options.rounds, options.seconds, rest)
    timed = {kernel_lines.OURS: ours, **peers}
    samples = {who: call.samples for who, call in timed.items()}
    return {"flops": case.flops, "samples": samples, "failed": failed}


def _build(case: Case, mode: str) -> tuple[dict[str, Timed], dict[str, str]]:
    """Return the calls of the peers, and why others are left out."""
    made: dict[str, Timed] = {}
    failed: dict[str, str] = {}
    torch.compiler.reset()  # or what was compiled for other cases counts against a limit
    for name, build in case.peers(mode).items():
        try:
            made[name] = Timed(_made(case, build, mode))
        except Exception as error:  # whatever a peer raises
            failed[name] = _reason(error)
    return made, failed


def _made(case: Case, build: Build, mode: str) -> Any:
    """Return the call of a peer that computes what we compute."""
    call = build()
    result = call()
    if mode == "fresh":
        check(result, case.call(mode)())
    return call


def _reason(error: Exception) -> str:
    text = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {text}"[:200]


def _headline(state: dict[str, Any]) -> str:
    ends = f"copy {state['copy_gb_per_s']} GB/s, in cache {state['copy_in_cache_gb_per_s']} GB/s"
    head = f"{'op':24}{'dtype':10}{'shape':>20} {'mode':9}"
    head += f"{'µs':>10}{'GB/s':>7}{'GFLOP/s':>8}{'ratio':>7}  beside"
    left = "".join(f"\nleft out: {name}: {why}" for name, why in state["left_out"].items())
    return f"{left}\nthreads: {state['threads']}; {ends}, FMA {state['fma_gflop_per_s']} GFLOP/s\n{head}"


if __name__ == "__main__":
    sys.exit(main())
