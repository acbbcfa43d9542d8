"""The libraries of the package: the ones that it has, or ones that it builds.

Every import asks for them, so this is apart from what builds them, which needs half the standard
library.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from ._name import NAME

_FORCE = f"{NAME.upper()}_BUILD"


def library(prebuilt: Path) -> Path:
    """Return the path of a library of the package: the prebuilt one, or one that is built now.

    ``opcast build`` or a wheel puts the prebuilt one there; ``<NAME>_BUILD=1`` disregards it.
    """
    forced = os.environ.get(_FORCE, "")
    if forced not in {"", "0", "1"}:
        raise ImportError(f"{_FORCE}: expected 0 or 1, got {forced}")
    if forced != "1" and prebuilt.is_file():
        return prebuilt
    found: Path | None = import_module("._build", __package__).built(prebuilt.name)
    if found is None:
        raise ImportError(
            f"{__package__}: {prebuilt} is missing: run `opcast build` in the project or install a wheel"
        )
    return found
