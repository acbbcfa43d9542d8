"""Imports of packages whose installation is wrong: each ends with one sentence that says what to do, and never in a crash.

Arguments: the collection's name, the name of a framework, and of how many damages of a library to try, the last ones. Runs
in an environment with the wheels of both.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy

SITE = Path(sysconfig.get_path("purelib"))
NAME = sys.argv[1]
LAST = int(sys.argv[3])
BACKEND, ADAPTOR = f"{NAME}_backend", f"{NAME}_{sys.argv[2]}"
LIBRARY, HANDLERS = f"lib{NAME}.so", f"lib{ADAPTOR}.so"
REINSTALL = "run `pip install --force-reinstall {}`, or `opcast build` in the project"


def cut(size: int) -> Callable[[bytes], bytes]:
    """Return a damage: only the beginning of a file is there."""
    return lambda content: content[:size]


def patched(offset: int, *new: int) -> Callable[[bytes], bytes]:
    """Return a damage: other bytes at one place."""
    return lambda content: content[:offset] + bytes(new) + content[offset + len(new) :]


def foreign(_: bytes) -> bytes:
    """Return a library of another program."""
    return next((Path(numpy.__file__).parent / "fft").glob("*.so")).read_bytes()


def elsewhere(content: bytes) -> bytes:
    """Return a library whose dynamic section lies where nothing is loaded."""
    (segments,), (count,) = (
        struct.unpack_from("<Q", content, 32),
        struct.unpack_from("<H", content, 56),
    )
    for at in range(segments, segments + count * 56, 56):
        if content[at] == 2:  # PT_DYNAMIC
            content = patched(at + 16, *struct.pack("<Q", 1 << 40))(content)
    return content


DAMAGES: list[tuple[Callable[[bytes], bytes], str]] = [
    (cut(0), "it is empty"),
    (cut(3), "it is no shared library"),
    (cut(20), "it is damaged: 20 bytes are there"),
    (cut(64), "it is damaged: 64 bytes of "),
    (cut(5000), "it is damaged: 5000 bytes of "),
    (lambda content: content[:-1], "it is damaged: "),
    (lambda content: content[: len(content) // 2], "it is damaged: "),
    (lambda content: b"version https://git-lfs.github.com/spec/v1\n", "it is no shared library"),
    (lambda content: bytes(len(content)), "it is no shared library"),
    (
        lambda content: content[:64] + bytes(len(content) - 64),
        "it is damaged: it does not say what",
    ),
    (patched(32, *[255] * 8), "it is damaged: "),
    (patched(54, 10, 0), "it is damaged: its segments have descriptions of 10 bytes"),
    (elsewhere, "it is damaged: what it says of itself lies outside of it"),
    (patched(4, 1), "it is no library of 64 bits"),
    (patched(16, 2), "it is no shared library"),
    (patched(18, 183), "it is for aarch64, and this Python for x86_64"),
    (foreign, "it is another library, without "),
]


def trial(package: str, change: Callable[[Path], None], expected: str) -> str:
    """Import the adaptor with a copy of a package that has been changed; return what is wrong with that."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SITE / package, Path(folder, package))
        change(Path(folder, package))
        environment = {
            **os.environ,
            "PYTHONPATH": folder,
            "PATH": "",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        words = [sys.executable, "-c", f"import {ADAPTOR}"]
        got = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if expected == "ok" and got.returncode == 0:
        return ""
    last = got.stderr.strip().splitlines()[-1:]
    if got.returncode == 1 and last and expected in last[0] and "Error: " in last[0]:
        return ""
    return f"{package}: expected {expected!r}, got exit code {got.returncode} and {got.stderr[-500:]!r}"


def library(name: str, damage: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Return a change of a package: that of its library."""

    def change(package: Path) -> None:
        file = package / "lib" / name
        file.write_bytes(damage(file.read_bytes()))

    return change


def text(file: str, old: str, new: str) -> Callable[[Path], None]:
    """Return a change of a package: other text in a module."""

    def change(package: Path) -> None:
        content = (package / file).read_text()
        if old not in content:
            raise ValueError(f"{file} has no {old!r}")
        (package / file).write_text(content.replace(old, new))

    return change


def absent(package: Path) -> None:
    """Remove the library."""
    shutil.rmtree(package / "lib")


def fake(package: str, content: str) -> Callable[[Path], None]:
    """Return a change: another package beside this one, of which there is one module."""

    def change(beside: Path) -> None:
        folder = beside.parent / package
        folder.mkdir()
        (folder / "__init__.py").write_text(content)

    return change


VARIANTS: list[tuple[tuple[str, str], str]] = [
    (("cu99", ""), "cu99/lib/"),
    (("cu99", "syntax error"), "cannot be used: its package is damaged ("),
    (("cu99", '__version__ = "0"'), "0 needs "),
    # Not for CUDA: the backend's own library serves.
    (("custom", "raise ValueError"), "ok"),
    (("cu13_more", "raise ValueError"), "ok"),
]


def beside(package: str, content: str) -> Callable[[Path], None]:
    """Return a change: another package beside the backend, which has its library."""

    def change(backend: Path) -> None:
        fake(package, content)(backend)
        shutil.copytree(backend / "lib", backend.parent / package / "lib")

    return change


def trials() -> list[str]:
    """Run all trials and return what was wrong."""
    wrong: list[str] = []
    handlers = (SITE / ADAPTOR / "lib" / HANDLERS).is_file()
    package, name = (ADAPTOR, HANDLERS) if handlers else (BACKEND, LIBRARY)
    remedy = REINSTALL.format(package.replace("_", "-"))
    for damage, expected in DAMAGES[-LAST:]:
        wrong.append(trial(package, library(name, damage), expected))
    wrong.append(trial(package, library(name, cut(0)), remedy))
    wrong.append(trial(package, absent, f"{package}/lib/{name} is missing"))
    version = text("_gen/ops.py", '__version__ = "', '__version__ = "9')
    wrong.append(trial(BACKEND, version, f"run `pip install {BACKEND.replace('_', '-')}=="))
    if handlers:  # what follows is the backend's own, whoever imports it
        return [w for w in wrong if w]
    for variant, expected in VARIANTS:
        wrong.append(trial(BACKEND, beside(f"{BACKEND}_{variant[0]}", variant[1]), expected))
    needs = f"{BACKEND} needs apache-tvm-ffi of version 0.1.13 or later, which "
    remedy = "run `pip install 'apache-tvm-ffi>=0.1.13,<0.2'`"
    for content, expected in (
        ('__version__ = "0.1.9"', "is version 0.1.9: "),
        ('raise ModuleNotFoundError("none", name="tvm_ffi")', "is not installed: "),
        (
            'raise OSError("libtvm_ffi.so: file too short")',
            "cannot be used: libtvm_ffi.so: file too short: ",
        ),
    ):
        wrong.append(trial(BACKEND, fake("tvm_ffi", content), needs + expected + remedy))
    return [w for w in wrong if w]


if __name__ == "__main__":
    found = trials()
    print("\n".join(found) or "ok")
    sys.exit(1 if found else 0)
