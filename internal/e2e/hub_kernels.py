"""Load kernels of the hub with the real loader, offline, in a process with PyTorch and in one without.

Arguments: the folders of two versions, and the commits of both.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import os
import shutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

# Partly untyped.
jax: Any = import_module("jax")
paddle: Any = import_module("paddle")
kernels: Any = import_module("kernels")
rust: Any = import_module("kernels._rust")
checker: Any = import_module("kernel_abi_check")

ONE, TWO = Path(sys.argv[1]), Path(sys.argv[2])
COMMITS = sys.argv[3:5]
HAS_TORCH = find_spec("torch") is not None
REMEDY = ": download the kernel once more, or run `opcast hub` in the project"
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def check_variant(folder: Path) -> None:
    """Look at the files of a variant as the loader and other people's judges do."""
    metadata = rust.Metadata.read_from_file(folder / "metadata.json")
    digest = rust.Digest.hash_variant(rust.DigestAlgorithm.SHA256, folder)
    assert metadata.digest.files == digest.files, folder
    metadata.digest.validate(digest)
    for name, value in digest.files.items():
        content = (folder / name).read_bytes()
        assert base64.b64encode(hashlib.sha256(content).digest()).decode() == value, name
        if name.endswith(".py"):
            ast.parse(content, feature_version=(3, 9))
        if name.endswith(".so"):
            library = checker.ObjectFile(str(folder / name))
            assert not library.check_manylinux("manylinux_2_28"), name
            assert not library.check_python_abi("3.9"), name
    assert str(metadata.name) == "tiny-ops"
    assert metadata.provenance.kernel.commit == COMMITS[metadata.version - 1]
    assert not metadata.provenance.dirty
    assert metadata.provenance.kernel_builder.version.startswith("opcast 0."), metadata.provenance


def works(kernel: Any, factor: int) -> None:
    """Call a kernel with arrays of every framework that the process has."""
    assert np.array_equal(kernel.scaled(X), factor * X)
    x = jax.numpy.asarray(X)
    assert np.array_equal(kernel.scaled(x), factor * X)
    assert np.array_equal(jax.jit(kernel.scaled)(x=x), factor * X)

    def total(v: Any) -> Any:
        return kernel.scaled(v).sum()

    assert np.array_equal(jax.grad(total)(x), np.full_like(X, factor))
    p = paddle.to_tensor(X, stop_gradient=False)
    kernel.scaled(p).sum().backward()
    assert np.array_equal(p.grad.numpy(), np.full_like(X, factor))
    assert {"scaled", "scaled_backward", "layers", "ops"} <= set(kernel.__all__)
    try:
        kernel.scaled([1.0])
    except TypeError as error:
        expected = "an array of PyTorch, JAX, NumPy or PaddlePaddle"
        assert str(error) == f"scaled: expected {expected}, got list", error
    else:
        raise AssertionError("a list passed")
    if HAS_TORCH:
        works_with_torch(kernel, factor)


def works_with_torch(kernel: Any, factor: int) -> None:
    """Call it with tensors, eager, for gradients, compiled, and as the registered op."""
    torch: Any = import_module("torch")
    x = torch.from_numpy(X)
    assert torch.equal(kernel.scaled(x), factor * x)
    leaf = x.clone().requires_grad_()
    kernel.scaled(leaf).sum().backward()
    assert torch.equal(leaf.grad, torch.full_like(x, factor))
    compiled = torch.compile(kernel.scaled, fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), factor * x)
    assert torch.equal(getattr(torch.ops, kernel.scaled.__module__).scaled(x), factor * x)
    assert not hasattr(torch.ops.tiny_ops, "scaled")


def laid_out() -> None:
    """Lay two branches of a repository out in the loader's cache, and load them from there."""
    home = Path(os.environ["KERNELS_CACHE"], "kernels--org--tiny-ops")
    (home / "refs").mkdir(parents=True)
    for version, (folder, commit) in enumerate(zip((ONE, TWO), COMMITS), 1):
        (home / "refs" / f"v{version}").write_text(commit)
        shutil.copytree(folder, home / "snapshots" / commit)
    trust = {"trust_remote_code": True}
    for version in (1, 2):
        chosen = {"version": version, "backend": "cpu", **trust}
        assert kernels.has_kernel("org/tiny-ops", **chosen)
        works(kernels.get_kernel("org/tiny-ops", **chosen), version + 1)
    locks = [
        {"dependency": {"repo-id": "org/tiny-ops", "version": 2}, "lock": {"commit": COMMITS[1]}}
    ]
    Path("kernels.lock").write_text(json.dumps(locks))
    works(kernels.load_kernel("org/tiny-ops", lockfile=Path("kernels.lock"), backend="cpu"), 3)


def kernelized() -> None:
    """Have a kernel's layer stand in for one of a model."""
    torch: Any = import_module("torch")
    torch.version.cuda = (
        None  # else the loader of layers wants variants for GPUs, which may be none
    )

    @kernels.use_kernel_forward_from_hub("ReLU")
    class ReLU(torch.nn.ReLU):
        pass

    model = torch.nn.Sequential(ReLU())
    layer = kernels.LocalLayerRepository(ONE, layer_name="ReLU")
    with kernels.use_kernel_mapping({"ReLU": {"cpu": layer}}, inherit_mapping=False):
        mode = kernels.Mode.TRAINING | kernels.Mode.TORCH_COMPILE
        model = kernels.kernelize(model, mode=mode, device="cpu")
    x = torch.from_numpy(X).requires_grad_()
    assert torch.equal(model(x), 2 * x)
    model(x).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 2))
    assert torch.equal(torch.compile(model, fullgraph=True, backend="eager")(x), 2 * x)


def measured(kernel: Any) -> None:
    """Run the benchmark script once, as its command does."""
    command: Any = import_module("kernels.cli.benchmark")
    (kind,) = command.discover_benchmark_classes(ONE / "benchmarks" / "benchmark.py", ONE)
    benchmark = kind()
    benchmark.kernel, benchmark.device = kernel, "cpu"
    benchmark.setup_small()
    benchmark.benchmark_small()
    assert benchmark.out.shape == (2, 64)


def older(kernel: Any, folder: Path) -> None:
    """Import a kernel as loaders did that look for it in a folder of its name."""
    sys.path.insert(0, str(folder))
    module: Any = import_module("tiny_ops")
    assert module.scaled is sys.modules[kernel.__name__].scaled
    assert module.__all__ == kernel.__all__
    works(module, 2)


def damaged(folder: Path) -> None:
    """Load a kernel whose download was cut off."""
    copy = Path("damaged", folder.name)
    shutil.copytree(folder, copy)
    metadata = json.loads((copy / "metadata.json").read_text())
    metadata["id"] += "_damaged"
    (copy / "metadata.json").write_text(json.dumps(metadata))
    library = copy / "tiny_ops_backend" / "lib" / "libtiny_ops.so"
    library.write_bytes(library.read_bytes()[:5000])
    try:
        kernels.get_local_kernel(copy, backend="cpu")
    except ImportError as error:
        assert str(error).endswith(REMEDY), error
    else:
        raise AssertionError("a part of a library passed")


for folder in (ONE, TWO):
    for variant in sorted((folder / "build").iterdir()):
        check_variant(variant)
first = kernels.get_local_kernel(ONE, backend="cpu")
second = kernels.get_local_kernel(TWO, backend="cpu")
assert first.__name__ != second.__name__
for _ in range(2):
    works(first, 2)
    works(second, 3)
framework = "torch-stable-abi210" if HAS_TORCH else "tvm-ffi01"
assert f"/{framework}-cpu-x86_64-linux/" in first.__file__, first.__file__
other = kernels.get_local_kernel(TWO / "build" / "tvm-ffi01-cpu-x86_64-linux", backend="cpu")
works(other, 3)  # the same identifier from another folder
laid_out()
older(first, Path(first.__file__).parent)
damaged(Path(first.__file__).parent)
if HAS_TORCH:
    kernelized()
    measured(first)
else:
    assert "torch" not in sys.modules or sys.modules["torch"] is None
assert not [name for name in sys.modules if name.startswith("tiny_ops_")]
print("ok")
