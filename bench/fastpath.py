"""Takes the fast path of a generated function apart, to time what it consists of.

The parts are read from the function itself, so the split cannot become stale: it is walked through
with real arguments, and every operand of a condition and every statement on the way becomes a part.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from statement import Call


def parts(function: Callable[..., Any], arguments: Mapping[str, Any]) -> list[Call]:
    """Return the parts of a call of a generated function, of which all arguments are given by name."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    function(**arguments)  # guards learn from calls
    walk = _Walk(function.__globals__, dict(arguments))
    walk.through(tree.body)
    return walk.calls


class _Walk:
    """Runs statements one by one."""

    def __init__(self, module: dict[str, Any], names: dict[str, Any]) -> None:
        self.module, self.names = module, names
        self.calls: list[Call] = []

    def through(self, statements: Sequence[ast.stmt]) -> bool:
        """Run statements; return whether they returned."""
        return any(self._step(s) for s in statements)

    def _step(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.If):
            met = bool(self._value(statement.test))
            self.calls.extend(map(self._part, _operands(statement.test, met)))
            return self.through(statement.body if met else statement.orelse)
        if isinstance(statement, ast.Try):
            return self.through(statement.body)
        if isinstance(statement, ast.For):
            self.calls.append(self._part(statement.iter))
            for item in self._value(statement.iter):
                self._bind(statement.target, item)
                if self.through(statement.body):
                    return True
            return False
        if isinstance(statement, ast.Return):
            if isinstance(statement.value, ast.Call):
                self.calls.append(self._part(statement.value))
            return True
        if not _is_text(statement):
            self.calls.append(self._part(statement))
            self._run(statement)
        return False

    def _part(self, node: ast.AST) -> Call:
        return Call(ast.unparse(node), dict(self.names), self.module)

    def _value(self, node: ast.expr) -> Any:
        return eval(ast.unparse(node), {**self.module, **self.names})

    def _bind(self, target: ast.expr, value: Any) -> None:
        self._run(ast.parse(f"{ast.unparse(target)} = _item").body[0], _item=value)

    def _run(self, statement: ast.stmt, **more: Any) -> None:
        space = {**self.module, **self.names, **more}
        exec(ast.unparse(statement), space)
        self.names.update({name: space[name] for name in _assigned(statement)})


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _assigned(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _operands(test: ast.expr, wanted: bool) -> Iterator[ast.expr]:
    """Yield the operands that are evaluated when the test has the wanted result."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _operands(test.operand, not wanted)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == wanted:
        for value in test.values:
            yield from _operands(value, wanted)
    else:  # where one operand decides, timing the whole expression is right
        yield test
