"""Opening a shared library, after a look at whether that can go well.

The system's loader reads what a file says of itself, and a file that lies ends the process: one that was cut off, for
example. So a few facts are compared first. What is wrong with an installation is an ImportError with the remedy.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from ._gen.ops import __version__

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # of an ELF file of 64 bits, as the next one
_SEGMENT = struct.Struct("<IIQQQQQQ")
_LIBRARY, _LOAD, _DYNAMIC = 3, 1, 2  # ET_DYN, PT_LOAD, PT_DYNAMIC
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


def opened(package: str | None, path: Path, load: Callable[[str], Any], *exports: str) -> Any:
    """Return what ``load`` makes of a library of a package, which must have these exports."""
    try:
        _look(path)
        loaded = load(str(path))
        library = ctypes.CDLL(str(path))
    except (OSError, RuntimeError) as error:
        cause = error
        while isinstance(cause.__cause__, OSError):  # PyTorch says only that it did not work
            cause = cause.__cause__
        raise _refused(package, path, str(cause).replace(f"{path}: ", "")) from None
    for name in exports:
        if not hasattr(library, name):
            raise _refused(package, path, f"it is another library, without {name}")
    return loaded


def place(package: str, file: str) -> tuple[str, Path]:
    """Return the package that has the backend's library, and where that lies.

    It is the backend itself, or a package beside it with a library that has code for a version of CUDA, too.
    """
    home = Path(__file__).parent
    variant = re.compile(re.escape(package) + "_cu[0-9]+")
    beside = home.parent.glob(f"{package}_cu[0-9]*/lib/{file}")
    found = sorted(path for path in beside if variant.fullmatch(path.parent.parent.name))
    names = [path.parent.parent.name for path in found]
    if not found:
        return package, home / "lib" / file
    if len(found) > 1:
        raise ImportError(
            f"{' and '.join(names)} are both installed, and one library can serve: run `pip uninstall"
            f" {names[0].replace('_', '-')}`"
        )
    try:
        version = import_module(names[0]).__version__
    except (AttributeError, ImportError, OSError, SyntaxError, ValueError) as error:
        why = f"its package is damaged ({error})"
        raise _refused(names[0], found[0], why) from None
    require_version(names[0], version)
    return names[0], found[0]


def require_version(package: str | None, version: str) -> None:
    """Refuse to serve a package of another version than this one."""
    if version != __version__:
        backend = str(__package__).replace("_", "-")
        raise ImportError(
            f"{package} {version} needs {backend} {version}, and {__version__} is installed:"
            f" run `pip install {backend}=={version}`"
        )


def _refused(package: str | None, path: Path, why: str) -> ImportError:
    distribution = str(package).replace("_", "-")
    remedy = f"run `pip install --force-reinstall {distribution}`, or `opcast build` in the project"
    if "." in str(__package__):  # inside a kernel of a hub, which pip does not know
        remedy = "download the kernel once more, or run `opcast hub` in the project"
    return ImportError(f"{package}: {path} cannot be used: {why}: {remedy}")


def _look(path: Path) -> None:
    """Raise an OSError for a file that is no library for this process, or only a part of one."""
    with path.open("rb") as file:
        machine, segments, end = _header(file)
        own = _own_machine()
        if own is not None and machine != own:
            raise OSError(f"it is for {_machine(machine)}, and this Python for {_machine(own)}")
        size = os.fstat(file.fileno()).st_size
        if end > size:
            raise OSError(f"it is damaged: {size} bytes of {end} are there")
        file.seek(segments[0])
        table = file.read(segments[1] * _SEGMENT.size)
    loaded: list[tuple[int, int]] = []
    dynamic: list[tuple[int, int]] = []
    for kind, _, offset, address, _, length, memory, _ in _SEGMENT.iter_unpack(table):
        if offset + length > size:
            raise OSError(f"it is damaged: {size} bytes of {offset + length} are there")
        if kind == _LOAD:
            loaded.append((address, address + min(length, memory)))
        elif kind == _DYNAMIC:
            dynamic.append((address, address + length))
    if not loaded or not dynamic:
        raise OSError("it is damaged: it does not say what to load")
    # The system's loader reads these without a look at where they lie.
    if not all(any(a <= begin and end <= b for a, b in loaded) for begin, end in dynamic):
        raise OSError("it is damaged: what it says of itself lies outside of it")


def _header(file: BinaryIO) -> tuple[int, tuple[int, int], int]:
    """Return the machine, the place and number of the segments, and where the tables end."""
    start = file.read(_HEADER.size)
    if start[:4] != b"\x7fELF":
        raise OSError("it is no shared library" if start else "it is empty")
    if len(start) < _HEADER.size:
        raise OSError(f"it is damaged: {len(start)} bytes are there")
    header = _HEADER.unpack(start)
    _, kind, machine, _, _, segments, sections, _, _, each, many, size, count, _ = header
    if start[4:6] != b"\x02\x01":
        raise OSError("it is no library of 64 bits, little-endian")
    if kind != _LIBRARY:
        raise OSError("it is no shared library")
    if many and each != _SEGMENT.size:
        raise OSError(f"it is damaged: its segments have descriptions of {each} bytes")
    return machine, (segments, many), max(segments + many * _SEGMENT.size, sections + size * count)


def _own_machine() -> int | None:
    try:
        with Path("/proc/self/exe").open("rb") as file:
            start = file.read(20)
    except OSError:
        return None
    return int.from_bytes(start[18:20], "little") if start[:4] == b"\x7fELF" else None


def _machine(number: int) -> str:
    return _MACHINES.get(number, f"machine {number}")
