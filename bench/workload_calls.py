"""The calls that ``workloads.py`` measures: the workloads of the definitions, made smaller where they must be."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomllib
import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFINITIONS = Path(__file__).parents[1] / "opdefs"
_MOST_FLOPS = 1 << 34  # of a call: more needs a second of two CPUs
_DTYPES: dict[str, torch.dtype] = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i8": torch.int8,
    "f8e4m3fn": torch.float8_e4m3fn,
    "f8e4m3fnuz": torch.float8_e4m3fnuz,
}
_OUTER = [
    ("Tq", "Tk"),
    ("M",),
    ("N",),
]  # sizes that count tokens, of which the first that are there
_ROW_DTYPES = {"own", "f32", "f16", "bf16"}


@dataclass(frozen=True)
class Call:
    """A workload of an op.

    Parameters
    ----------
    op, workload
        What it is.
    values
        Sizes, dtypes and attributes by their names, and leading dims as ``"*"``.
    divided
        By what the number of its tokens was divided.

    """

    op: str
    workload: str
    values: dict[str, Any]
    divided: int = 1

    @property
    def dtype(self) -> str:
        """The dtypes, as the definition names them."""
        named = [self.values.get(v) for v in ("T", "Q", "C", "O")]  # C may be a number of channels
        return " ".join(dict.fromkeys(v for v in named if isinstance(v, str))) or "f32"

    @property
    def label(self) -> str:
        """The name, and what was made smaller."""
        return self.workload + (f", 1/{self.divided} of the tokens" if self.divided > 1 else "")

    @property
    def lead(self) -> tuple[int, ...]:
        """The leading dims."""
        return tuple(self.values["*"])

    def size(self, *names: str) -> list[int]:
        """Return sizes."""
        return [self.values[name] for name in names]

    def torch(self, variable: str) -> torch.dtype:
        """Return the dtype of a variable."""
        return _DTYPES[self.values[variable]]


def calls(prefixes: list[str], dtypes: list[str]) -> Iterator[Call]:
    """Yield the calls of all ops that begin with one of the prefixes.

    ``own`` among the dtypes is that of the workload. A gradient op without workloads has those of its op.
    """
    found = {path.stem: _read(path) for path in sorted(_DEFINITIONS.rglob("*.toml"))}
    forward = {d["backward"]: name for name, d in found.items() if "backward" in d}
    for op, definition in found.items():
        if not any(op.startswith(prefix) for prefix in prefixes):
            continue
        whole: dict[str, Any] = definition.get("workloads") or {}
        if not whole and op in forward:
            whole = found[forward[op]].get("workloads") or {}
        for name, values in whole.items():
            for own in _of_dtypes(values, definition, dtypes):
                yield _smaller(Call(op, name, own), definition)


def _read(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return tomllib.load(file)


def _of_dtypes(
    values: dict[str, Any], definition: dict[str, Any], dtypes: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the values with other dtypes of rows in place of their own one."""
    assert _ROW_DTYPES.issuperset(dtypes), f"dtypes are {', '.join(sorted(_ROW_DTYPES))}"
    own = values.get("T")
    wanted = [own if dtype == "own" else dtype for dtype in dtypes]
    possible = definition.get("dtypes", {}).get("T", [None])
    for dtype in dict.fromkeys(wanted):
        if own is None and "own" in dtypes:
            yield values
            return
        if own is not None and dtype in possible:
            same = {v: dtype for v in ("T", "W", "O", "C") if values.get(v) == own}
            yield values | same


def _smaller(call: Call, definition: dict[str, Any]) -> Call:
    """Halve the number of tokens until the call has no more than the most operations."""
    defaults = {a["name"]: a["default"] for a in definition.get("attrs", []) if "default" in a}
    flops = definition.get("flops", "0")
    names = next((n for n in _OUTER if all(name in call.values for name in n)), ())
    divided, values = 1, dict(call.values)
    while names and _operations(flops, defaults | values) > _MOST_FLOPS:
        divided *= 2
        for name in names:
            values[name] //= 2
    return Call(call.op, call.workload, values, divided)


def _operations(flops: str, values: dict[str, Any]) -> float:
    """Return the value of an expression of sizes, which has Python's syntax."""
    names = {**values, "batch": prod(values.get("*", [])), "max": max, "min": min}
    names |= {"ceildiv": _ceildiv}
    return eval(flops, {"__builtins__": {}}, names)  # our own definitions


def _ceildiv(a: int, b: int) -> int:
    return -(-a // b)
