"""Finds circles among the imports of Python files.

Every import counts, wherever it stands: in a function, for type checkers only, or as the name that ``import_module``
gets. A name with holes, such as ``f"{framework}_caller"``, stands for every module that it fits, if it has a word of
its own.

    python imports.py SHARED FOLDER...

The modules of all folders are imported side by side. Those of the first one serve all others, which know nothing of each
other: they find each other's modules by names with holes at most. Prints each circle as a chain of modules, each import
that crosses folders, and each module that several folders have; exits with 1 if there is one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

HOLE = "[a-z0-9_]+"
"""What stands for a hole in the expression for a name."""


class Module(NamedTuple):
    """A file, the folder it was found in, and the package that its relative imports begin with."""

    file: Path
    folder: Path
    package: str


def modules(folder: Path) -> Iterator[tuple[str, Module]]:
    """Yield the modules below a folder by their names."""
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder).with_suffix("").parts
        package = ".".join(parts[:-1])
        yield package if parts[-1] == "__init__" else ".".join(parts), Module(file, folder, package)


def absolute(name: str, package: str) -> str:
    """Return the full name of a module whose name may begin with dots."""
    level = len(name) - len(name.lstrip("."))
    if level == 0:
        return name
    base = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join([*base, name[level:]] if name[level:] else base)


def pattern(argument: ast.expr, package: str) -> str:
    """Return an expression for the names that an argument of import_module may be; it is empty if nobody can know."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return re.escape(absolute(argument.value, package))
    if isinstance(argument, ast.JoinedStr):
        fixed = [p.value for p in argument.values if isinstance(p, ast.Constant)]
        if any(letter.isalpha() for letter in "".join(map(str, fixed))):
            return "".join(
                re.escape(str(p.value)) if isinstance(p, ast.Constant) else HOLE
                for p in argument.values
            )
    return ""


def imported(node: ast.AST, package: str) -> list[str]:
    """Return expressions for the names of the modules that a statement or a call imports."""
    if isinstance(node, ast.Import):
        return [re.escape(alias.name) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = absolute("." * node.level + (node.module or ""), package)
        inner = [f"{base}.{alias.name}" for alias in node.names]
        # "from . import x" takes a module of the package, not what the package itself holds.
        return [re.escape(name) for name in (inner if node.module is None else [base, *inner])]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        return [pattern(argument, package) for argument in node.args[:1]]
    return []


def graph(known: dict[str, Module]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return which modules each module may import, and which of them it names without holes."""
    every: dict[str, set[str]] = {}
    named: dict[str, set[str]] = {}
    for name, module in known.items():
        tree = ast.parse(module.file.read_text())
        wanted = {w for node in ast.walk(tree) for w in imported(node, module.package)}

        def fitting(expressions: set[str]) -> set[str]:
            fits = [re.compile(expression) for expression in expressions]
            return {other for other in known if any(fit.fullmatch(other) for fit in fits)}

        every[name] = fitting(wanted) - {name}
        named[name] = fitting({w for w in wanted if HOLE not in w})
    return every, named


def circles(edges: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield circles until none is left; each is opened at one of its imports."""
    while True:
        try:
            TopologicalSorter({name: sorted(edges[name]) for name in edges}).prepare()
        except CycleError as error:
            circle: list[str] = error.args[1][
                :0:-1
            ]  # backwards, and without the end, which repeats the start
            first = circle.index(min(circle))
            circle = [*circle[first:], *circle[: first + 1]]
            yield circle
            edges[circle[0]].remove(circle[1])
        else:
            return


def main(folders: list[str]) -> int:
    """Look through folders whose modules are imported side by side."""
    known: dict[str, Module] = {}
    faults: list[str] = []
    for folder in folders:
        for name, module in modules(Path(folder)):
            if name in known:
                faults.append(f"{name} is {known[name].file} and {module.file}")
            known.setdefault(name, module)
    every, named = graph(known)
    for name, wanted in named.items():
        allowed = {known[name].folder, Path(folders[0])}
        strangers = sorted(other for other in wanted if known[other].folder not in allowed)
        faults += [f"{known[name].file} imports {known[other].file}" for other in strangers]
    faults += [" -> ".join(circle) for circle in circles(every)]
    print("\n".join(faults) or f"{len(known)} modules, nothing wrong")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
