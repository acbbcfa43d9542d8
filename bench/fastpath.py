"""Takes the fast path of a generated function apart, to time what it consists of.

The parts are read from the function itself, so the split cannot become stale: every operand of its
guard, then every statement that runs when the guard holds.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from stopwatch import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def parts(function: Callable[..., Any], arguments: Mapping[str, Any]) -> list[Call]:
    """Return the parts of a call that passes the guard.

    Parameters
    ----------
    function
        A generated function: ``if guard: try: statements``, then the general call.
    arguments
        All its arguments by name.

    """
    module = function.__globals__
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    calls = [Call(ast.unparse(e), arguments, module) for e in _operands(branch.test, True)]
    attempt = branch.body[0]
    assert isinstance(attempt, ast.Try)
    names = dict(arguments)
    for statement in attempt.body:
        if isinstance(statement, ast.Return):
            if not isinstance(statement.value, ast.Call):
                continue
            code = ast.unparse(statement.value)
        else:
            code = ast.unparse(statement)
        calls.append(Call(code, dict(names), module))
        space = {**module, **names}
        exec(code, space)
        names |= {name: space[name] for name in _assigned(statement)}
    return calls


def _operands(test: ast.expr, wanted: bool) -> Iterator[ast.expr]:
    """Yield the operands that are evaluated when the test has the wanted result."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _operands(test.operand, not wanted)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == wanted:
        for value in test.values:
            yield from _operands(value, wanted)
    else:  # where one operand decides, timing the whole expression is right
        yield test


def _assigned(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
