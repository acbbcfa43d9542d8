"""Peers that need not be there: each is left out, with the reason, where it cannot be loaded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import kernel_onnx
import kernel_vllm

if TYPE_CHECKING:
    from types import ModuleType

_FOLDER = Path(__file__).parents[1] / "build" / "bench" / "peers"


def find() -> tuple[list[ModuleType], dict[str, str]]:
    """Return those that can be loaded, and why the others cannot."""
    sys.path.append(str(_FOLDER))  # last, so that what tests use stays what it is
    found: list[ModuleType] = []
    left: dict[str, str] = {}
    for module in kernel_vllm, kernel_onnx:
        try:
            module.load()
            found.append(module)
        except Exception as error:  # whatever an import raises
            text = str(error).strip().split("\n", 1)[0]
            left[module.NAME] = f"{text}: make benchpeers installs it"
    return found, left
