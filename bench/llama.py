"""Measure tokens per second of the llama example, beside transformers and a model in plain jax.numpy.

The model has the shapes of SmolLM2-135M, fewer layers, and random weights. Prints, for each dtype and batch,
the ratio of the speeds (above 1, the example is faster) with quartiles, and tokens per second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import figures
from figures import Figure, budget, quartiles, ratios

_HERE = Path(__file__).parent
_BUILT = _HERE.parent / "build" / "bench"

_PROMPT = 128  # tokens
_NAMES = {"bfloat16": "bf16", "float32": "f32"}

# What is measured beside what.
_RATIOS = [
    ("torch", "decode", "eager", "transformers' LlamaForCausalLM, eager"),
    ("torch", "decode", "compiled", "the same under torch.compile, with a static cache"),
    ("jax", "decode", "jit", "a model in jax.numpy, one jax.jit for each step"),
    ("torch", "prefill", "eager", "transformers' LlamaForCausalLM, eager"),
    ("jax", "prefill", "jit", "a model in jax.numpy, one jax.jit for each step"),
]

Line = dict[str, Any]


def main() -> int:
    """Measure and print; return 0 whatever the figures are."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="one dtype, one batch, two layers, few rounds")
    add("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of all that is measured")
    add("--layers", type=int, default=8)
    add("--dtypes", default="f32,bf16")
    add("--batches", default="1,4", help="numbers of prompts")
    add("--tokens", type=int, default=32, help="how many follow each prompt")
    add("--rounds", type=int, default=7, help="how often each text is continued by everyone")
    add("--runners", default="torch,eager,compiled,jax,jit", help="such as torch,eager")
    add("--figures", type=Path, help="write the figures into this file, too")
    options = parser.parse_args()
    if options.quick:
        options.layers, options.dtypes, options.batches, options.rounds = 2, "f32", "1", 5
    long = {short: name for name, short in _NAMES.items()}
    lines = [line for short in options.dtypes.split(",") for line in _run(long[short], options)]
    found = [*_least(lines), *_compared(lines), *_speeds(lines, options.tokens)]
    _print(found)
    if options.figures:
        figures.write(options.figures, found)
    return 0


def _run(dtype: str, options: argparse.Namespace) -> list[Line]:
    """Measure a dtype in a process of its own, since threads and compilers belong to processes."""
    model = _BUILT / f"llama-{options.layers}"
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder, "lines")
        command = [sys.executable, str(_HERE / "llama_run.py"), f"--model={model}", f"--to={to}"]
        names = ("threads", "layers", "rounds", "tokens", "batches", "runners")
        command += [f"--{name}={getattr(options, name)}" for name in names]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(options.threads),
            "TORCHINDUCTOR_CACHE_DIR": str(_BUILT / "inductor"),
        }
        command += [f"--dtype={dtype}", f"--prompt={_PROMPT}"]
        subprocess.run(command, env=environment, check=True)
        return [json.loads(line) for line in to.read_text(encoding="utf-8").splitlines()]


def _compared(lines: Sequence[Line]) -> Iterator[Figure]:
    """Yield the ratios of each case."""
    for ours, part, peer, what in _RATIOS:
        for case, mine, theirs in _pairs(lines, ours, peer):
            samples = ratios(theirs[f"{part}_s"], mine[f"{part}_s"])
            name = f"llama/{ours}/{part}_vs_{peer}/{case}"
            yield Figure(name, f"beside {what}", "ratio", samples, better="more")


def _least(lines: Sequence[Line]) -> Iterator[Figure]:
    """Yield the least of each ratio over all cases."""
    all_of = list(_compared(lines))
    for ours, part, peer, what in _RATIOS:
        name = f"llama/{ours}/{part}_vs_{peer}"
        of_cases = [figure for figure in all_of if figure.name.startswith(f"{name}/")]
        if of_cases:
            least = min(of_cases, key=lambda figure: quartiles(figure.samples)[1])
            case = least.name.removeprefix(f"{name}/")
            yield replace(least, name=name, what=f"beside {what}; the least, {case}")


def _pairs(lines: Sequence[Line], ours: str, peer: str) -> Iterator[tuple[str, Line, Line]]:
    for mine in lines:
        for theirs in lines:
            if (mine["runner"], theirs["runner"]) == (ours, peer) and _case(mine) == _case(theirs):
                yield _case(mine), mine, theirs


def _speeds(lines: Sequence[Line], tokens: int) -> Iterator[Figure]:
    """Yield tokens per second, of all prompts together."""
    for line in lines:
        for part, count in (("prefill", _PROMPT), ("decode", tokens - 1)):
            samples = [line["rows"] * count / s for s in line[f"{part}_s"]]
            name = f"llama/{line['runner']}/{part}/{_case(line)}"
            what = f"{part} of {line['rows']} prompts"
            yield Figure(name, what, "tokens/s", samples, better="more")


def _case(line: Line) -> str:
    return f"{_NAMES[line['dtype']]}/batch_{line['rows']}"


def _print(found: Sequence[Figure]) -> None:
    for figure in found:
        low, value, high = quartiles(figure.samples)
        verdict = ""
        if limit := budget(figure.name):
            verdict = f", {'holds' if value >= limit else 'misses'} {limit:g}"
        line = f"{value:>8.4g} {figure.unit:9}{f'{low:.4g} to {high:.4g}':>18}  {figure.name}"
        print(f"{line:88}{figure.what}{verdict}")


if __name__ == "__main__":
    sys.exit(main())
