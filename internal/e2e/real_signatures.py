"""Make the calls of other libraries with our signatures, and compute them by the references.

Usage: real_signatures.py PROJECT. Each line of its file calls is a call as it stands in a program that uses the library:
f and i give arrays of floats and integers.
"""

import ast
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import tomllib

project = Path(sys.argv[1])
rng = np.random.default_rng(0)
stub = ast.parse(next(project.glob("adaptors/torch/src/*_torch/__init__.pyi")).read_text())
heads = {n.name: n.args for n in stub.body if isinstance(n, ast.FunctionDef)}


def f(*shape: int) -> Any:
    """Return positive floats."""
    return rng.uniform(0.1, 1, shape)


def i(high: int, *shape: int) -> Any:
    """Return integers below a number, all different if they are enough."""
    count = int(np.prod(shape))
    return (rng.permutation(max(high, count))[:count] % high).reshape(shape)


def ends(*values: int) -> Any:
    """Return where rows end, with the 0 at which the first begins."""
    return np.array([0, *values])


def bound(name: str, call: ast.Call) -> dict[str, Any]:
    """Return the arguments of a call by name."""
    scope: dict[str, Any] = {}
    head = ast.unparse(heads[name])
    kept = ast.parse(f"def op({head}): ...", mode="exec")
    for node in ast.walk(kept):
        if isinstance(node, ast.arg):
            node.annotation = None
    exec(compile(kept, name, "exec"), scope)
    given = {"f": f, "i": i, "ends": ends}
    args = [eval(compile(ast.Expression(a), name, "eval"), given) for a in call.args]
    more = {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}
    found = inspect.signature(scope["op"]).bind(*args, **more)
    found.apply_defaults()
    return dict(found.arguments)


def computed(text: dict[str, Any], values: dict[str, Any]) -> Any:
    """Evaluate a reference."""
    names = [a["name"] for a in [*text["inputs"], *text.get("attrs", [])]]
    scope: dict[str, Any] = {"xp": np}
    body = textwrap.indent(text["reference"].strip(), "    ")
    exec(f"def reference({', '.join(names)}):\n{body}\n", scope)
    return scope["reference"](**{n: values[n] for n in names})


for line in (project / "calls").read_text().splitlines():
    call = ast.parse(line, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    name = call.func.id
    text = tomllib.loads((project / "opdefs" / f"{name}.toml").read_text())
    values = bound(name, call)
    one = computed(text, values)
    made: list[Any] = [*one] if type(one) is tuple else [one]
    written = [a["name"] for a in text["inputs"] if a.get("mutated")]
    assert len(made) == len(text.get("outputs", [])) + len(written), (name, len(made))
    for which, result in zip(written, made[len(text.get("outputs", [])) :]):
        assert (result is None) == (values[which] is None), (name, which)
        assert np.shape(result) == np.shape(values[which]), (name, which)
    assert all(r is None or np.isfinite(r).all() for r in made), name
    print(name)
