"""Third-party headers that kernels include: where they are on this machine.

``opcast build`` runs this file by itself, with the questions as arguments, so it imports nothing of
the package.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import NamedTuple

# Where headers of the system lie that pkg-config does not know.
_STANDARD = ("/usr/local/include", "/usr/include")


class Found(NamedTuple):
    """The folders to search, and the files below the first of them that a package may carry.

    There is no folder for headers that the compiler finds by itself. Files are given relative to the
    folder, licenses by their paths.
    """

    folders: list[str]
    files: list[str]
    licenses: list[str]


def find(kind: str, place: str, include: str) -> Found:
    """Find the headers of one entry of the manifest: its kind, and what it says of the place.

    ``include`` is the folder in a distribution that holds the headers, or "". A path is absolute. LookupError
    means that this machine does not have them; its text says what lacks.
    """
    if kind == "pip":
        return _distribution(place, include)
    if kind == "system":
        return Found(_system(place), [], [])
    if not Path(place).is_dir():
        raise LookupError(f"there is no folder {place}")
    return Found([place], [], [])


def _distribution(name: str, include: str) -> Found:
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise LookupError(f"this Python has no distribution {name}: pip install {name}") from None
    files = [PurePosixPath(str(file)) for file in distribution.files or ()]
    inside = PurePosixPath(include) if include else _include(name, files)
    folder = Path(str(distribution.locate_file(str(inside)))).resolve()
    if not folder.is_dir():
        raise LookupError(f"the distribution {name} has no folder {inside}")
    below = [str(f.relative_to(inside)) for f in files if f.is_relative_to(inside)]
    headers = sorted(f for f in below if not f.endswith((".py", ".pyc", ".pyi")))
    if not headers:
        raise LookupError(f"the distribution {name} lists no file in the folder {inside}")
    words = ("license", "licence", "copying", "notice")
    licenses = sorted(
        str(distribution.locate_file(str(f)))
        for f in files
        if ".dist-info" in f.parts[0] and f.name.lower().startswith(words)
    )
    return Found([str(folder)], headers, licenses)


def _include(name: str, files: list[PurePosixPath]) -> PurePosixPath:
    """Return the only folder called include of a distribution, or of the environment."""
    found: set[PurePosixPath] = set()
    for file in files:
        folders = file.parts[:-1]
        if "include" in folders:
            found.add(PurePosixPath(*folders[: folders.index("include") + 1]))
    if len(found) == 1:
        return found.pop()
    several = f"several folders include: {', '.join(map(str, sorted(found)))}" if found else ""
    raise LookupError(
        f"the distribution {name} has {several or 'no folder include'}; "
        "say with include which folder has the headers"
    )


def _system(name: str) -> list[str]:
    """Return the folders that pkg-config names, or one in a standard folder with the name."""
    try:
        words = ["pkg-config", "--cflags-only-I", name]
        answer = subprocess.run(
            words, check=True, capture_output=True, stdin=subprocess.DEVNULL, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        for standard in _STANDARD:
            if (folder := Path(standard, name)).is_dir():
                return [str(folder)]
        raise LookupError(
            f"pkg-config does not know {name}, and there is no folder {name} in "
            f"{' or '.join(_STANDARD)}: install the system's package with these headers"
        ) from None
    named = [word[2:] for word in shlex.split(answer.stdout) if word.startswith("-I")]
    # Compilers search these anyway, and in an order of their own.
    return [folder for folder in named if folder.rstrip("/") not in _STANDARD]


def _answer(question: list[str]) -> dict[str, object]:
    try:
        return find(*question)._asdict()
    except LookupError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    json.dump([_answer(question) for question in json.loads(sys.argv[-1])], sys.stdout)
