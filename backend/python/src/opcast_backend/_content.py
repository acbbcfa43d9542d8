"""What tells a file from another: its content, never its age."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest(path: Path) -> str:
    """Return the digest of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def states(paths: Iterable[str]) -> dict[str, str | None]:
    """Return the digests of files, and None for those that are gone."""
    found: dict[str, str | None] = {}
    for path in paths:
        try:
            found[path] = digest(Path(path))
        except OSError:
            found[path] = None
    return found


def changed(path: str | Path) -> int:
    """Return when a file changed last, by a clock that programs cannot set; 0 if it is gone.

    ninja shortens a path with ".." in it beyond a link to one that does not exist.
    """
    try:
        return Path(path).stat().st_ctime_ns
    except OSError:
        return 0
