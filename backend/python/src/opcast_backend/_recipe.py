"""What decides how a package builds its libraries: the recipe that opcast generated, and this machine."""

from __future__ import annotations

import platform
import shlex
from pathlib import Path
from typing import NamedTuple

from . import _headers, _tools

_HOME = Path(__file__).parent


class Recipe(NamedTuple):
    """A generated build.ninja without what differs between machines, and what that is here."""

    text: str
    cxx: _tools.Compiler
    cuda: tuple[_tools.Compiler, Path] | None

    def variable(self, name: str) -> str:
        """Return a variable of the text as it is written."""
        for line in self.text.splitlines():
            key, _, value = line.partition(" = ")
            if key == name:
                return value.replace("$$", "$")
        return ""

    def root(self) -> Path | None:
        """Return the folder with the sources: the project, or what an installed package has."""
        folders = shlex.split(self.variable("folders"))
        project = _HOME.parent.parent.parent.parent
        for root in (project, _HOME / "source"):
            if (root / "opcast.toml").is_file() and all(
                (root / folder).is_dir() for folder in folders
            ):
                return root
        return None

    def toolchain(self) -> str:
        """Return what tells the programs and packages that a build uses from any others."""
        text = self.cxx.identity + (self.cuda[0].identity if self.cuda else "")
        packages = shlex.split(self.variable("distributions"))
        return text + "".join(f"{name} {_tools.version(name)}\n" for name in packages)

    def headers(self, root: Path) -> dict[str, list[str]]:
        """Return the folders of third-party headers: what the package carries, or this machine has.

        The keys tell the folders apart wherever they lie.
        """
        folders: dict[str, str] = {}
        for name in shlex.split(self.variable("header_names")):
            carried = _HOME / "headers" / name
            if root == _HOME / "source" and carried.is_dir():
                found = [str(carried)]
            else:
                kind, place, include = shlex.split(self.variable(f"header_{name}"))
                try:
                    found = _headers.find(kind, place, include).folders
                except LookupError as error:
                    raise ImportError(f"headers of {name}: {error}") from None
            folders |= {f"{name}_{i}" if i else name: folder for i, folder in enumerate(found)}
        words = {"headers": list[str](), "nvcc_headers": list[str]()}
        for name, folder in folders.items():
            mapped = f"-ffile-prefix-map={folder}={name}"
            words["headers"] += ["-isystem", folder, mapped]
            words["nvcc_headers"] += ["-isystem", folder, "-Xcompiler", mapped]
        return words

    def machine(self, project: Path, build_id: str, sources: str, root: Path) -> str:
        """Return the variables that a recipe lacks, for the sources in a folder."""
        gnu = [] if self.cxx.clang else shlex.split(self.variable("gnu_flags"))
        values: dict[str, list[str]] = {
            "cxx": self.cxx.words,
            "cxx_flags": gnu,
            "project": [str(project)],
            "build_id": [build_id],
            "sources": [sources],
        }
        for module in shlex.split(self.variable("modules")):
            if found := _tools.headers(module):
                values[module] = [str(found)]
        values |= self.headers(root)
        if platform.machine().lower() in {"x86_64", "amd64"}:  # others compile such kernels without
            for name in shlex.split(self.variable("features")):
                values[f"cpu_{name.replace('.', '_')}"] = [f"-m{name}"]
        if self.cuda:
            values["nvcc"] = self.cuda[0].words
            values["nvcc_flags"] = self.cxx.host(gnu)
            values["cudart"] = [str(self.cuda[1])]
        lines = [f"{name} = {shlex.join(v).replace('$', '$$')}\n" for name, v in values.items()]
        return "".join(lines)


def find() -> Recipe:
    """Return the recipe for the CPU, or the one with CUDA where there is nvcc."""
    cpu, both = (_HOME / "recipes" / f"{name}.ninja" for name in ("cpu", "cuda"))
    recipe = Recipe(cpu.read_text(encoding="utf-8"), _tools.cpp_compiler(), None)
    if both.is_file():
        text = both.read_text(encoding="utf-8")
        cuda = _tools.cuda_compiler(recipe._replace(text=text).variable("toolkit"))
        if cuda:
            return Recipe(text, recipe.cxx, cuda)
    return recipe
