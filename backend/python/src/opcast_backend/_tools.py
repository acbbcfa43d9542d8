"""What a package needs to build itself: compilers, headers, ninja."""

from __future__ import annotations

import hashlib
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
        words = _without_launcher(self.words)
        handed = [word for flag in [*words[1:], *flags] for word in ("-Xcompiler", flag)]
        return ["-ccbin", words[0], *handed]


def _ask(words: list[str]) -> str:
    """Return what a program prints."""
    answer = subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return answer.stdout.decode(errors="surrogateescape")


def _identity(words: list[str]) -> str:
    """Return what tells a program with options from any other, as ``opcast build`` has it."""
    text = _ask([*words, "--version"]) + "\n".join(words[1:]) + "\n"
    return text + "".join(map(_program_digest, words))


def _without_launcher(words: list[str]) -> list[str]:
    """Leave out a program that only starts a compiler, or knows what it has made before."""
    return words[1:] if len(words) > 1 and Path(words[0]).name in _LAUNCHERS else words


def _compiler_identity(words: list[str]) -> str:
    """Return what tells a C++ compiler from any other: its driver can name the program behind it."""
    words = _without_launcher(words)
    text = _identity(words)
    try:
        return text + _program_digest(_ask([*words, "-print-prog-name=cc1plus"]).strip())
    except subprocess.CalledProcessError:
        return text  # not every compiler consists of such parts


def _program_digest(word: str) -> str:
    """Return a line with the digest of a program on PATH, or nothing for any other word."""
    found = shutil.which(word) if word else None
    return f"{hashlib.sha256(Path(found).read_bytes()).hexdigest()}\n" if found else ""


def cpp_compiler() -> Compiler:
    """Return the compiler that $CXX names, or the first of the usual ones."""
    try:
        named = shlex.split(os.environ.get("CXX", ""))
    except ValueError as error:
        raise ImportError(f"no C++ compiler: $CXX is {os.environ['CXX']}: {error}") from None
    for words in [named] if named else [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(words[0]):
            return Compiler(words, _compiler_identity(words))
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


def headers(module: str) -> Path | None:
    """Return the header folder of an installed package."""
    spec = find_spec(module)
    for root in (spec and spec.submodule_search_locations) or []:
        if (folder := Path(root, "include")).is_dir():
            return folder
    return None


def version(distribution: str) -> str:
    """Return the version of an installed package, or ""."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def outside_libraries(cxx: Compiler, link: list[str], root: Path) -> list[str]:
    """Return the files beyond the sources that the linker's words name; relative paths count from the root."""
    folders = [root / word[2:] for word in link if word.startswith("-L") and word != "-L"]
    found = {word for word in link if Path(word).is_absolute() and Path(word).is_file()}
    for word in link:
        if word.startswith("-l") and word != "-l":
            found |= _library(cxx, folders, word[2:])
    return sorted(found)


def _library(cxx: Compiler, folders: list[Path], name: str) -> set[str]:
    """Return the file of a library that lies in one of the folders or where the compiler says."""
    for file in (f"lib{name}.so", f"lib{name}.a"):
        for folder in folders:
            if (folder / file).is_file():
                return {str(folder / file)}
        answer = _ask([*cxx.words, f"-print-file-name={file}"]).strip()
        if Path(answer).is_absolute() and Path(answer).is_file():
            return {os.path.normpath(answer)}
    return set()


def ninja() -> str:
    """Return the environment's ninja, or the one on PATH."""
    own = Path(sysconfig.get_path("scripts"), "ninja")
    found = str(own) if own.is_file() else shutil.which("ninja")
    if not found:
        raise ImportError("no ninja, which builds the library: pip install ninja")
    return found


def variables(names: list[str]) -> str:
    """Return what the environment tells the compilers."""
    return "".join(f"{name}={os.environ.get(name, '')}\n" for name in names)
