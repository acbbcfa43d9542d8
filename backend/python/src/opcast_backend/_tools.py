"""What a package needs to build itself: compilers, headers, ninja."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sysconfig
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

# What the compilers read from the environment, so that it decides what they make.
_VARIABLES = (
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH"),
    *("GCC_EXEC_PREFIX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"),
)
_LAUNCHERS = ("ccache", "distcc", "sccache")


class Compiler(NamedTuple):
    """A compiler: the words of its command, and what tells it from any other."""

    words: list[str]
    identity: str

    @property
    def clang(self) -> bool:
        """Whether this is clang, which does not know all options of GCC."""
        return "clang" in self.identity.partition("\n")[0]

    def host(self, flags: list[str]) -> list[str]:
        """Return nvcc's options that name this compiler and hand it its own options."""
        words = self.words
        if len(words) > 1 and Path(words[0]).name in _LAUNCHERS:
            words = words[1:]
        handed = [word for flag in [*words[1:], *flags] for word in ("-Xcompiler", flag)]
        return ["-ccbin", words[0], *handed]


def _identity(words: list[str]) -> str:
    """Return the version of a program, and the size and age of its file."""
    answer = subprocess.run(
        [*words, "--version"], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    lines = [answer.stdout]
    for word in words:
        if found := shutil.which(word):
            state = Path(found).resolve().stat()
            lines.append(f"{Path(found).resolve()} {state.st_size} {state.st_mtime_ns}\n")
    return "".join(lines)


def cpp_compiler() -> Compiler:
    """Return the compiler that $CXX names, or the first of the usual ones."""
    try:
        named = shlex.split(os.environ.get("CXX", ""))
    except ValueError as error:
        raise ImportError(f"no C++ compiler: $CXX is {os.environ['CXX']}: {error}") from None
    for words in [named] if named else [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(words[0]):
            return Compiler(words, _identity(words))
    tried = f"$CXX names {named[0]}" if named else "none of c++, g++ and clang++ is on PATH"
    raise ImportError(f"no C++ compiler: {tried}")


def cuda_compiler(toolkit: str) -> tuple[Compiler, Path] | None:
    """Return nvcc, of the wanted version, and the folder of its static runtime library."""
    named = os.environ.get("NVCC") or shutil.which("nvcc") or _wheel("bin", "nvcc")
    program = shutil.which(named) if named else None
    if program is None:
        if os.environ.get("NVCC"):
            raise ImportError(f"no CUDA compiler: $NVCC names {named}, which is no program")
        return None
    nvcc = Compiler([program], _identity([program]))
    release = re.search(r"release [0-9.]+, V([0-9.]+)", nvcc.identity)
    if not release or (toolkit and not f"{release[1]}.".startswith(f"{toolkit}.")):
        return None
    root = Path(program).resolve().parent.parent
    target = {"x86_64": "x86_64-linux", "aarch64": "sbsa-linux"}.get(platform.machine(), "")
    for folder in (root / "lib64", root / "lib", root / "targets" / target / "lib"):
        if (folder / "libcudart_static.a").is_file():
            return nvcc, folder
    return None


def _wheel(*parts: str) -> str:
    """Return a file of the wheels that hold the CUDA toolkit, or ""."""
    spec = find_spec("nvidia")
    roots = (spec and spec.submodule_search_locations) or []
    return max(
        (str(p) for root in roots for p in Path(root).glob("/".join(("cu*", *parts)))), default=""
    )


def headers(module: str, distribution: str) -> tuple[Path, str] | None:
    """Return the header folder of an installed package and what tells it from any other."""
    spec = find_spec(module)
    for root in (spec and spec.submodule_search_locations) or []:
        if (folder := Path(root, "include")).is_dir():
            return folder, f"{distribution} {metadata.version(distribution)} {folder}\n"
    return None


def ninja() -> str:
    """Return the environment's ninja, or the one on PATH."""
    own = Path(sysconfig.get_path("scripts"), "ninja")
    found = str(own) if own.is_file() else shutil.which("ninja")
    if not found:
        raise ImportError("no ninja, which builds the library: pip install ninja")
    return found


def variables() -> str:
    """Return what the environment tells the compilers."""
    return "".join(f"{name}={os.environ.get(name, '')}\n" for name in _VARIABLES)
