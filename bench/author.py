"""Measure what the same op costs its author as an extension of PyTorch, and as other bindings.

The extension, peers/rms_norm_author.cc and author_torch.py, has kernels and gradients for the CPU, and gives
the results of the collection's op. It is compiled from nothing and after an edit, by PyTorch's own
``cpp_extension``. The other peers call the function that the collection's library exports, so that their
lines are those of the binding alone.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import figures
from figures import Figure
from peers import jax_peers, torch_peers

_PEERS = Path(__file__).with_name("peers")
_SOURCE = _PEERS / "rms_norm_author.cc"
_EXTENSION = "opcast_author_peer"
_REPEAT = 5
_IMPORT = """
import sys, time, torch

sys.path.insert(0, sys.argv[1])
begin = time.perf_counter()
__import__(sys.argv[2])
print(time.perf_counter() - begin)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", type=Path, help="write the figures into this file, too")
    parser.add_argument("--cost", type=Path, help="result of opcast bench --suite cost, to compare")
    options = parser.parse_args()
    found = [*_lines(), *_extension(options.cost)]
    for figure in found:
        told = figure.told()
        value = f"{told['value']['median']:.4g}" if told["value"] else told["missing"]
        print(f"{figure.what:72}{value:>12} {figure.unit}")
    if options.figures:
        figures.write(options.figures, found)


def _lines() -> list[Figure]:
    """Return how long the sources are: of the extension, and of bindings without a kernel."""
    texts = [_SOURCE, _PEERS / "author_torch.py"]
    gradient = [f"_rms_norm{end}" for end in ("", "_fake", "_gradients", "_gradients_fake")]
    parts = {
        "torch_extension": "\n".join(path.read_text(encoding="utf-8") for path in texts),
        "stable_abi_without_kernel": (_PEERS / "rms_norm_stable.cc").read_text(encoding="utf-8"),
        "xla_ffi_without_kernel": (_PEERS / "rms_norm_xla.cc").read_text(encoding="utf-8"),
        "torch_function_without_kernel": _source(torch_peers, "RmsNorm", "rms_norm"),
        "custom_op_without_kernel": _source(torch_peers, *gradient, "_keep", "_differentiate"),
        "jax_tvm_ffi_without_kernel": _source(jax_peers, "_target", "rms_norm"),
    }
    return [
        Figure(f"author/{name}/lines", f"lines: {name}", "lines", [_count(code)], exact=True)
        for name, code in parts.items()
    ]


def _source(module: Any, *names: str) -> str:
    return "\n".join(inspect.getsource(getattr(module, name)) for name in names)


def _count(text: str) -> int:
    lines = (line.strip() for line in text.splitlines())
    return sum(bool(line) and not line.startswith(("//", "#include", '"""')) for line in lines)


def _extension(cost: Path | None) -> list[Figure]:
    """Return what it takes to compile the extension, what is compiled, and its import."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, _SOURCE.name)
        shutil.copy(_SOURCE, source)
        seconds = {"clean": _compiled(source)}
        with source.open("a", encoding="utf-8") as file:
            file.write("// An edit.\n")
        seconds["edited"] = _compiled(source)
        _compare(folder)
        library = next(Path(folder).glob("*.so"))
        size = library.stat().st_size
        imports = [_import(folder) for _ in range(_REPEAT)]
    place, what = "author/torch_extension", "an extension of PyTorch with one op"
    found = [
        Figure(f"{place}/{how}", f"{what}: build, {how}", "s", [s]) for how, s in seconds.items()
    ]
    found += [
        Figure(f"{place}/size", f"{what}: size", "bytes", [size]),
        Figure(f"{place}/import", f"{what}: import beyond torch", "s", imports),
    ]
    ours = _edited(cost)
    ratio = [seconds["edited"] / ours] if ours else []
    name, why = "author/edited/ratio", "bench/author.py knows no build after an edit"
    text = f"{what}, edited and compiled"
    beside = "opcast build after an edit of one kernel"
    return [*found, Figure(name, text, "ratio", ratio, beside=beside, better="more", missing=why)]


def _compiled(source: Path) -> float:
    """Return the seconds in which the extension is built, without those in which PyTorch is imported."""
    code = (
        "import sys, time; from torch.utils import cpp_extension;"
        " begin = time.perf_counter();"
        " cpp_extension.load(name=sys.argv[1], sources=[sys.argv[2]], build_directory=sys.argv[3],"
        ' extra_cflags=["-O2"]);'
        " print(time.perf_counter() - begin)"
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where ninja is
    command = [sys.executable, "-c", code, _EXTENSION, str(source), str(source.parent)]
    return _printed(command, {**os.environ, "PATH": path})


def _compare(folder: str) -> None:
    """Hold the extension against the op of the collection, in a process of its own."""
    code = (
        "import sys, torch; sys.path[:0] = sys.argv[1:3]; __import__(sys.argv[3])\n"
        "import author_torch, opcast_torch\n"
        "for dtype in torch.float32, torch.bfloat16:\n"
        "    x, w = (torch.randn(n, dtype=dtype, requires_grad=True) for n in ((4, 64), (64,)))\n"
        "    got, want = (m.rms_norm(x, w) for m in (author_torch, opcast_torch))\n"
        "    torch.testing.assert_close(got, want)\n"
        "    grads = [torch.autograd.grad(y.sum(), [x, w]) for y in (got, want)]\n"
        "    torch.testing.assert_close(*grads)\n"
        "print(0)"
    )
    _printed([sys.executable, "-c", code, folder, str(_PEERS), _EXTENSION], {**os.environ})


def _import(folder: str) -> float:
    return _printed([sys.executable, "-c", _IMPORT, folder, _EXTENSION], {**os.environ})


def _printed(command: list[str], environment: dict[str, str]) -> float:
    """Return the number in the last line that a command prints."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[-2]}: {done.stderr.strip()[-2000:]}")
    return float(done.stdout.split()[-1])


def _edited(cost: Path | None) -> float | None:
    """Return the seconds of our own build after an edit."""
    if cost is None or not cost.exists():
        return None
    found = json.loads(cost.read_text(encoding="utf-8")).get("figures", [])
    values = [f["value"] for f in found if f["name"] == "build/edited/wall" and f["value"]]
    return values[0]["median"] if values else None


if __name__ == "__main__":
    main()
