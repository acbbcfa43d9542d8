"""What importing the packages brings along, each case in a process of its own.

python import_parts.py CASE
"""

import importlib
import importlib.util
import sys
import threading
from pathlib import Path
from typing import Any


def brought(name: str) -> set[str]:
    """Import a module and return the modules that came with it."""
    before = set(sys.modules)
    importlib.import_module(name)
    return set(sys.modules) - before


def without(name: str) -> None:
    """Import a package that is not for PyTorch: neither PyTorch nor NVIDIA's bindings come."""
    came = brought(name)
    for unwanted in ("torch", "cuda.bindings.driver"):
        assert unwanted not in came, f"{name} imports {unwanted}"


def backend() -> None:
    """Import the backend alone: its checks, which take long to compile, come when they are asked for, and no driver."""
    without("opcast_backend")
    assert "opcast_backend._gen.checks" not in sys.modules
    loaded = Path("/proc/self/maps").read_text()
    assert not [d for d in ("libcuda.so", "libamdhip64.so", "libhsa") if d in loaded]
    package: Any = importlib.import_module("opcast_backend")
    assert package.checks is sys.modules["opcast_backend._gen.checks"]


def late() -> None:
    """Import PyTorch after all: its tensors are taken."""
    without("opcast_numpy")
    ops: Any = importlib.import_module("opcast_torch")
    torch: Any = importlib.import_module("torch")
    backend: Any = importlib.import_module("opcast_backend")
    x, y = torch.tensor([-1.0, 2.0]), torch.empty(2)
    assert ops.eltwise_relu(x).tolist() == [0, 2]
    backend.op_call("eltwise_relu", [x], [y])
    assert y.tolist() == [0, 2]


def early() -> None:
    """Import PyTorch, then its package: nothing of PyTorch comes that costs, and tvm-ffi knows PyTorch."""
    torch: Any = importlib.import_module("torch")
    came = brought("opcast_torch")
    heavy = ("torch._dynamo", "torch._inductor", "torch.distributed", "torch.onnx", "onnx", "sympy")
    found = [m for m in sorted(came) if f"{m}.".startswith(tuple(f"{h}." for h in heavy))]
    assert not found, f"opcast_torch imports {found}"
    tvm_ffi: Any = importlib.import_module("tvm_ffi")
    assert tvm_ffi.convert(torch.float32) == tvm_ffi.dtype("float32")


def first() -> None:
    """Import the package for PyTorch alone: PyTorch comes before tvm-ffi."""
    ops: Any = importlib.import_module("opcast_torch")
    assert ops.torch is importlib.import_module("torch")
    tvm_ffi: Any = importlib.import_module("tvm_ffi")
    assert tvm_ffi.convert(ops.torch.float32) == tvm_ffi.dtype("float32")


def threads() -> None:
    """Import in another thread what this one does not see while it imports tvm-ffi."""
    unseen: Any = importlib.import_module("opcast_backend._tvm_ffi").unseen
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(importlib.util.find_spec("torch")))
    with unseen():
        try:
            importlib.util.find_spec("torch")
        except ModuleNotFoundError as error:
            assert error.name == "torch", error.name
        else:
            raise AssertionError("it was seen")
        thread.start()
        thread.join()
    assert len(seen) == 1 and seen[0] is not None, "another thread did not see it"
    assert importlib.util.find_spec("torch") is not None, "it is not seen afterwards"


CASES = {
    "backend": backend,
    "numpy": lambda: without("opcast_numpy"),
    "jax": lambda: without("opcast_jax"),
    "late": late,
    "early": early,
    "first": first,
    "threads": threads,
}
CASES[sys.argv[1]]()
print("ok")
