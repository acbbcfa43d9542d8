"""What a result of ``kernels.py`` says, made of the samples of one process or of several."""

from __future__ import annotations

import statistics
from typing import Any

OURS = "opcast"

Line = dict[str, Any]


def case(line: Line) -> tuple[str, ...]:
    """Return what tells results of one number of threads from each other."""
    return line["op"], line["dtype"], line["shape"], line["mode"]


def pooled(runs: list[list[Line]]) -> list[Line]:
    """Return the lines of processes that measured the same, with the samples of all."""
    found: dict[tuple[str, ...], list[Line]] = {}
    for run in runs:
        for line in run:
            found.setdefault(case(line), []).append(line)
    return [_together(lines) for lines in found.values()]


def _together(lines: list[Line]) -> Line:
    """Return one line for a case: what failed in any process is told."""
    samples: dict[str, list[float]] = {}
    failed: dict[str, str] = {}
    for line in lines:
        failed |= line.get("failed", {})
        for who, given in line.get("samples", {}).items():
            samples.setdefault(who, []).extend(given)
    whole: Line = {
        **next((line for line in lines if "samples" in line), lines[0]),
        "failed": failed,
    }
    return {**whole, "samples": samples} if samples else whole


def told(line: Line) -> Line:
    """Return a line with times and ratios instead of samples, which are nanoseconds per call.

    Sample i of all is from round i. A peer with fewer samples than we have was left out of rounds, and
    has no ratio.
    """
    line = dict(line)
    flops, samples = line.pop("flops", 0), dict(line.pop("samples", {}))
    if not line.get("failed", True):
        del line["failed"]
    if not samples:
        return line
    ours = samples.pop(OURS)
    low, middle, high = _quartiles(ours)
    line |= {"us": _us(middle), "us_quartiles": [_us(low), _us(high)], "rounds": len(ours)}
    line["gb_per_s"] = round(line["bytes"] / middle, 2)
    if flops:
        line["gflop_per_s"] = round(flops / middle, 1)
    line["peers_us"] = {who: _us(statistics.median(given)) for who, given in samples.items()}
    raced = {who: given for who, given in samples.items() if len(given) == len(ours)}
    ratios = {
        who: _quartiles([b / a for a, b in zip(ours, raced[who], strict=True)]) for who in raced
    }
    if ratios:
        line["beside"] = min(ratios, key=lambda who: ratios[who][1])
        low, middle, high = (round(ratio, 3) for ratio in ratios[line["beside"]])
        line |= {"ratio": middle, "ratio_quartiles": [low, high]}
    return line


def text(line: Line) -> str:
    """Return a row for people."""
    row = f"{line['op']:24}{line['dtype']:10}{line['shape']:>20} {line['mode']:9}"
    if "us" in line:
        ratio = f"{line['ratio']:7.2f}  {line['beside']}" if "ratio" in line else f"{'-':>7}"
        row += f"{line['us']:10.1f}{line['gb_per_s']:7.1f}{line.get('gflop_per_s', ''):>8}{ratio}"
    return row + "".join(f"; without {name}" for name in line.get("failed", {}))


def _quartiles(samples: list[float]) -> list[float]:
    return statistics.quantiles(samples, n=4, method="inclusive")


def _us(nanoseconds: float) -> float:
    return float(f"{nanoseconds / 1e3:.4g}")
