"""Read the references of definitions, without running them, and print the mistakes in them as JSON."""

from __future__ import annotations

import ast
import builtins
import difflib
import json
import symtable
import sys
import textwrap
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

try:
    import numpy
except ImportError:  # then what xp lacks is found when the suite runs
    numpy = None

Mistake = tuple[int, int, str, str]

ARRAYS = ("xp", "np")
GIVEN = {*dir(builtins), *ARRAYS, "__name__", "__builtins__"}
"""What a reference finds beside its arguments."""


def mistakes(item: dict[str, Any]) -> list[Mistake]:
    """Return the mistakes in a text, each with line and column, from 1 and 0, a text and a hint."""
    text, indent = item["text"], 0
    if not item["module"]:
        head = f"def reference({', '.join(item['names'])}):\n"
        text, indent = head + textwrap.indent(text, "    "), 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like
            tree = compile(text, "reference", "exec", ast.PyCF_ONLY_AST)
            compile(text, "reference", "exec")  # a return outside of a function is seen here only
            table = symtable.symtable(text, "reference", "exec")
    except SyntaxError as error:
        line, column = error.lineno or 1, (error.offset or 1) - 1
        return [(line - indent, column - 4 * indent, error.msg, "")]
    except (ValueError, RecursionError, MemoryError) as error:
        return [(1, 0, f"Python cannot read it: {error}", "")]
    found = [*unknown(tree, table), *lacking(tree, table)]
    if item["module"] and item["names"] is not None:
        found += surplus(tree, item["names"])
    return [(line - indent, column - 4 * indent, *rest) for line, column, *rest in sorted(found)]


def unknown(tree: ast.Module, table: symtable.SymbolTable) -> Iterator[Mistake]:
    """Yield the names that nothing defines."""
    if any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in ast.walk(tree)):
        return
    known = (
        GIVEN
        | made(table)
        | {g for n in ast.walk(tree) if isinstance(n, ast.Global) for g in n.names}
    )
    wrong, own = set(free(table, known)), chosen(tree, table)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in wrong:
            wrong.remove(node.id)
            yield (
                node.lineno,
                node.col_offset,
                f"the name {node.id} is not defined",
                near(node.id, own) or near(node.id, known),
            )


def made(table: symtable.SymbolTable) -> set[str]:
    """Return the names that a module defines."""
    return {
        s.get_name()
        for s in table.get_symbols()
        if s.is_assigned() or s.is_imported() or s.is_namespace()
    }


def free(table: symtable.SymbolTable, known: set[str]) -> Iterator[str]:
    """Yield the names that a scope, or one within it, takes from the module, which lacks them."""
    module = table.get_type() == "module"
    for symbol in table.get_symbols():
        if (
            symbol.is_referenced()
            and symbol.get_name() not in known
            and (module or symbol.is_global())
        ):
            yield symbol.get_name()
    for child in table.get_children():
        yield from free(child, known)


def chosen(tree: ast.Module, table: symtable.SymbolTable) -> set[str]:
    """Return the names that the author chose: of the module, of arguments, and those that something is assigned to."""
    nodes = [*ast.walk(tree)]
    arguments = {n.arg for n in nodes if isinstance(n, ast.arg)}
    assigned = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return made(table) | arguments | assigned


def lacking(tree: ast.Module, table: symtable.SymbolTable) -> Iterator[Mistake]:
    """Yield the attributes of xp that NumPy lacks."""
    if numpy is None:
        return
    names = set(ARRAYS) - chosen(tree, table)
    inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            chain = [node]
            while isinstance(chain[-1].value, ast.Attribute):
                chain.append(chain[-1].value)
            root = chain[-1].value
            if isinstance(root, ast.Name) and root.id in names:
                yield from absent(root.id, chain[::-1])


def absent(path: str, chain: list[ast.Attribute]) -> Iterator[Mistake]:
    """Yield the first attribute of a chain that a module lacks."""
    value = numpy
    for node in chain:
        if not isinstance(value, types.ModuleType):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names that NumPy is about to drop
            there = hasattr(value, node.attr)
            if not there:
                yield (
                    node.lineno,
                    node.end_col_offset - len(node.attr.encode()),
                    f"{path} has no {node.attr}",
                    near(node.attr, dir(value)),
                )
                return
            value = getattr(value, node.attr)
        path += "." + node.attr


def surplus(tree: ast.Module, names: list[str]) -> Iterator[Mistake]:
    """Yield the parameters of the function reference that are no arguments of the op, nor PyTorch."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "reference":
            plain = [*node.args.posonlyargs, *node.args.args]
            needed = plain[: len(plain) - len(node.args.defaults)]
            needed += [a for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is None]
            for a in needed:
                if a.arg not in [*names, "torch"]:
                    yield (
                        a.lineno,
                        a.col_offset,
                        f"the op has no argument {a.arg}",
                        near(a.arg, names),
                    )


def near(word: str, candidates: Iterable[str]) -> str:
    """Return a question for what was meant, or nothing."""
    found = difflib.get_close_matches(word, sorted(candidates), 1)
    return f'did you mean "{found[0]}"?' if found else ""


print(json.dumps([mistakes(item) for item in json.load(sys.stdin)]))
