"""Use two versions of one collection and another collection in one process, through three frameworks.

Arguments: for each collection its name, the sources of its packages, and the number that its marker
op adds. The second one has the first one's name.
"""

import faulthandler
import json
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

# Partly untyped.
jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
torch: Any = import_module("torch")
tvm_ffi: Any = import_module("tvm_ffi")

faulthandler.dump_traceback_later(200, exit=True)
X = np.arange(4, dtype=np.float32)
FRAMEWORKS = ("torch", "jax", "numpy", "backend")


class Collection:
    """The packages of one collection, and the number by which its op is known."""

    def __init__(self, name: str, folder: str, number: str) -> None:
        self.name, self.number = name, int(number)
        paths = [str(p) for p in Path(folder).glob("*/*/src")] + [f"{folder}/backend/python/src"]
        sys.path[:0] = paths
        self.modules: dict[str, Any] = {fw: import_module(f"{name}_{fw}") for fw in FRAMEWORKS}
        for module in [m for m in sys.modules if m.partition(".")[0].startswith(f"{name}_")]:
            del sys.modules[module]  # who holds it keeps it; the next version is another module
        del sys.path[: len(paths)]
        assert str(self.backend.library_path()).startswith(folder), self.backend.library_path()

    @property
    def backend(self) -> Any:
        """The package that has the library."""
        return self.modules["backend"]

    def results(self) -> dict[str, Any]:
        """Return what the marker op gives, by the way of calling it."""
        op_torch, op_jax = self.modules["torch"].marker, self.modules["jax"].marker
        compiled = torch.compile(op_torch, backend="eager", fullgraph=True)
        grad: Any = torch.ones(4, requires_grad=True)
        op_torch(grad).sum().backward()
        return {
            "numpy": self.modules["numpy"].marker(X),
            "torch": op_torch(torch.from_numpy(X)).numpy(),
            "compiled": compiled(torch.from_numpy(X)).numpy(),
            "gradient": grad.grad.numpy(),
            "jax": np.asarray(op_jax(jnp.asarray(X))),
            "jit": np.asarray(jax.jit(op_jax)(jnp.asarray(X))),
            "op_call": self._by_kind(),
        }

    def _by_kind(self) -> Any:
        out = np.empty_like(X)
        self.backend.op_call(self.backend.OpKind.Marker, [X], [out])
        return out

    def check(self, number: int | None = None) -> None:
        """Expect every way to reach this collection's own kernel."""
        for way, got in self.results().items():
            wanted = np.full(4, self.number) if way == "gradient" else X + (number or self.number)
            assert (got == wanted).all(), (self.name, self.number, way, got)


words = sys.argv[1:]
collections = [Collection(*words[i : i + 3]) for i in range(0, len(words), 3)]
first, second, other = collections
assert first.name == second.name != other.name

for collection in collections + collections[::-1]:
    collection.check()


def kernel(y: Any, x: Any) -> None:
    """Mark the results in another way."""
    y[...] = x + 90


# What is registered and forced in one does not reach the others.
with second.backend.register_kernel("marker", kernel, name="ninety"):
    first.check()
    second.check(90)
    other.check()
    with second.backend.use_kernel("marker", "marker"):
        second.check()
for collection in collections:
    collection.check()

# Names that are global in the process are taken on request, and once.
for prefix, collection in zip(("one", "two", "three"), collections):
    collection.backend.register_globals(prefix)
    namespace = ModuleType(f"mounted_{prefix}")
    sys.modules[namespace.__name__] = namespace
    tvm_ffi.init_ffi_api(prefix, namespace.__name__)
    y = np.empty_like(X)
    namespace.marker(y, X)
    assert (y == X + collection.number).all()
    namespace.op_call("marker", 1, 1, 0, X, y)
    assert (y == X + collection.number).all()
try:
    other.backend.register_globals("one")
except ValueError as error:
    assert "one.marker is registered already" in str(error), error
else:
    raise AssertionError("a taken name was registered again")
assert tvm_ffi.get_global_func("one.ops") is not None

# The objects of each are its own.
keys: set[str] = set()
for collection in collections:
    op = next(o for o in collection.backend.objects() if o.name == "marker")
    y = np.empty_like(X)
    op.call(y, X)
    assert (y == X + collection.number).all()
    assert (op.kind, op.schema) == (
        collection.backend.OpKind.Marker,
        collection.backend.ops()["marker"].schema,
    )
    assert op.calls > 0
    (built_in,) = op.kernels
    assert (built_in.name, built_in.device, built_in.op.name) == ("marker", "cpu", "marker")
    assert built_in.explain(y, X) == "yes", built_in.explain(y, X)
    marker = {"name": "marker", "device": "cpu", "reason": ""}
    assert json.loads(op.explain(y, X)) == [marker], op.explain(y, X)
    keys.add(type(op).__qualname__)
assert len(keys) == 3, keys

# All of them at once.
threads = [threading.Thread(target=c.check) for c in collections]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
second.backend.register_kernel("marker", kernel, name="left")  # is there when the process ends
print("ok")
